import type { Tx } from '../../src/store/db.ts'
import { Engine } from '../../src/store/embedded/statements.ts'
import { Unit } from '../../src/store/embedded/unit.ts'
import { type Migration, migrate } from '../../src/store/migrate.ts'

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
