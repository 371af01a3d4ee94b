/** Opens the engine that the settings name. */
import type { Db } from './db.ts'
import { openSqlite, type SqliteOptions } from './embedded/database.ts'
import type { PostgresOptions } from './postgres/database.ts'

export interface DatabaseOptions extends SqliteOptions {
  /** A Postgres server instead of the embedded engine. */
  postgres?: PostgresOptions | undefined
}

/** Opens the database. Throws a StoreError that says what to do if it can't be opened. */
export async function openDatabase({ postgres, ...options }: DatabaseOptions): Promise<Db> {
  if (!postgres) return openSqlite(options)
  const { openPostgres } = await import('./postgres/database.ts') // most marketplaces never need its driver
  const { fullBytes, warn } = options
  return openPostgres({ ...postgres, fullBytes, ...(warn && { warn }) })
}
