/** The empty database that a build makes, so that a start in memory need not run every migration. */
import { readFile } from 'node:fs/promises'
import type { Tx } from '../db.ts'
import { type Migration, migrate } from '../migrate.ts'
import { Engine } from './statements.ts'
import { Unit } from './unit.ts'

/** Returns the SQLite file; undefined if there is none, as when the source is run without a build. */
export const emptyDatabase = (): Promise<Uint8Array | undefined> =>
  readFile(new URL('./empty.db', import.meta.url)).catch(() => undefined)

/** Makes the file by all migrations, with a fixed date, so that the same source gives the same bytes. */
export async function makeEmptyDatabase(migrations: readonly Migration[]): Promise<Uint8Array> {
  const engine = await Engine.open()
  const run = async <T>(work: (tx: Tx) => Promise<T>) => {
    const unit = new Unit(engine, true)
    const value = await work(unit)
    unit.commit()
    return value
  }
  await migrate({ migrate: run }, migrations, () => 0)
  return engine.bytes()
}
