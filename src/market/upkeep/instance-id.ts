/** Which database this is, so that a command line can tell it from another at the same address. Source: A-198. */
import { randomUUID } from 'node:crypto'
import type { Db } from '../../store/db.ts'
import { settingNamed } from '../../store/tables/settings.ts'

const NAME = 'instance_id'

/** Made at the first start; it stays with the database, also in a backup or on another engine. */
export async function instanceIdOf(db: Db): Promise<string> {
  const known = await db.read(q => settingNamed(q, NAME))
  if (known !== undefined) return known
  return db.write(async tx => {
    const made = [NAME, randomUUID()]
    await tx.run('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', made)
    // Another process that starts at this moment may have been first.
    return (await settingNamed(tx, NAME)) as string
  })
}
