/** What dev needs to keep its data on a Postgres server. Source: A-52. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../settings/config.ts'
import { BUYER } from '../../sim/seed.ts'
import { openDatabase } from '../../store/open.ts'
import type { PostgresOptions } from '../../store/postgres/database.ts'
import { countUsers, userByEmail } from '../../store/tables/accounts/users.ts'
import type { StateFolder } from './state-folder.ts'

/** Reads the key that seals webhook secrets there, or makes one. */
export function secretKeyIn({ folder }: StateFolder): string {
  const path = join(folder ?? '', 'postgres.key')
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const key = randomBytes(32).toString('base64')
    writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' })
    return key
  }
}

/** Throws if the database belongs to a deployment: dev would migrate it, make accounts there and send its webhooks. */
export async function refuseForeign(postgres: PostgresOptions, name: string): Promise<void> {
  const db = await openDatabase({ file: null, postgres, onFatal: () => {} })
  try {
    const isForeign = await db
      .read(async q => (await countUsers(q)) > 0 && !(await userByEmail(q, BUYER)))
      .catch(() => false) // an empty database has no tables yet
    if (isForeign)
      throw new UsageError(
        `${name} has accounts that no dev has made, so dev does not touch it. Give --db an empty database.`,
      )
  } finally {
    await db.close()
  }
}
