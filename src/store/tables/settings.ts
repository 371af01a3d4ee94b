/** What the marketplace itself remembers between starts, as rows. */
import type { Reader, Tx } from '../db.ts'

export const settingNamed = async (q: Reader, name: string) =>
  (await q.get<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name]))?.value

export const deleteSetting = (tx: Tx, name: string) => tx.run('DELETE FROM settings WHERE name = $1', [name])
