/** Parses the setting for the size of the embedded database. Source: A-50. */
import { limits } from '../api/limits.ts'
import { UsageError } from '../shared/usage-error.ts'

const UNITS = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }
// SQLite has 2 GiB of memory here. The rest is for finishing open work, and for the memory of a statement.
const { mostMebibytes } = limits.database

export function dbLimitOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const [, number, unit = ''] = /^(\d{1,12}(?:\.\d{1,3})?) ?([KMG]B)?$/i.exec(text) ?? []
  const bytes = Math.floor(Number(number) * (UNITS[unit.toUpperCase() as keyof typeof UNITS] ?? 1))
  if (bytes >= UNITS.MB && bytes <= mostMebibytes * UNITS.MB) return bytes
  throw new UsageError(`--db-limit takes a size from 1MB to ${mostMebibytes}MB, like 512MB or 1GB, not ${text}.`)
}
