/** The id of the database, by which a command line notices another one at the same address. Source: A-198. */
import { randomUUID } from 'node:crypto'
import type { Db } from '../../store/db.ts'
import { ensureSetting, settingNamed } from '../../store/tables/upkeep/settings.ts'

const NAME = 'instance_id'

/** Returns the id, and makes it at the first start. It stays with the data, also in a backup or on another engine. */
export async function instanceIdOf(db: Db): Promise<string> {
  const known = await db.read(q => settingNamed(q, NAME))
  if (known !== undefined) return known
  return db.write(async tx => {
    await ensureSetting(tx, NAME, randomUUID())
    // Another process that starts at the same moment may have been first.
    return (await settingNamed(tx, NAME)) as string
  })
}
