/** Values that the marketplace itself keeps between starts. */
import type { Reader, Tx } from '../../db.ts'
import { table, text } from '../table.ts'

export const settings = table('settings', { name: text(), value: text() })

const changed = settings.replacing(['name'], ['value'])

export const settingNamed = async (q: Reader, name: string) =>
  (await q.get<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name]))?.value

/** Throws a ConstraintError if it is there. */
export const insertSetting = (tx: Tx, name: string, value: string) => settings.insert(tx, { name, value })

/** Changes nothing if it is there. */
export const ensureSetting = (tx: Tx, name: string, value: string) =>
  settings.insert(tx, { name, value }, 'ON CONFLICT (name) DO NOTHING')

export const setSetting = (tx: Tx, name: string, value: string) => settings.insert(tx, { name, value }, changed)

export const deleteSetting = (tx: Tx, name: string) => tx.run('DELETE FROM settings WHERE name = $1', [name])
