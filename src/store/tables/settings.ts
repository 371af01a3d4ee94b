/** What the marketplace itself remembers between starts, as rows. */
import type { Reader, Tx } from '../db.ts'

export const settingNamed = async (q: Reader, name: string) =>
  (await q.get<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name]))?.value

/** Throws a ConstraintError if it is there. */
export const insertSetting = (tx: Tx, name: string, value: string) =>
  tx.run('INSERT INTO settings (name, value) VALUES ($1, $2)', [name, value])

/** Changes nothing if it is there. */
export const ensureSetting = (tx: Tx, name: string, value: string) =>
  tx.run('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [name, value])

export const setSetting = (tx: Tx, name: string, value: string) =>
  tx.run(
    `INSERT INTO settings (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [name, value],
  )

export const deleteSetting = (tx: Tx, name: string) => tx.run('DELETE FROM settings WHERE name = $1', [name])
