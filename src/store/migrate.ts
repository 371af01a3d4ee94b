/** Brings a database's tables up to what this program knows. Works on any engine: it uses nothing but the interface. */
import { type Db, StoreError, type Tx } from './db.ts'

export interface Migration {
  id: number
  name: string
  /** Statements, each ending in a semicolon at the end of a line. */
  sql: string
}

const TABLE =
  'CREATE TABLE IF NOT EXISTS migrations (id BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)'

/**
 * Applies what is missing, in order, all or nothing. Answers the names of what it applied. Throws a StoreError if the
 * database knows a migration that the program doesn't: then a newer program has used it.
 */
export const migrate = (
  db: Pick<Db, 'migrate'>,
  migrations: readonly Migration[],
  now: () => number,
): Promise<string[]> =>
  db.migrate(async tx => {
    await tx.run(TABLE)
    const applied = await tx.all<{ id: number; name: string }>('SELECT id, name FROM migrations ORDER BY id')
    for (const { id, name } of applied) {
      if (!migrations.some(known => known.id === id)) throw tooNew(id, name)
    }
    const missing = migrations.filter(({ id }) => !applied.some(done => done.id === id))
    for (const migration of missing) await apply(tx, migration, now())
    return missing.map(({ name }) => name)
  })

/** Throws a StoreError unless everything this program knows is applied. */
export const proveMigrated = (db: Db, migrations: readonly Migration[]): Promise<void> =>
  db.read(async q => {
    const applied = await q.all<{ id: number }>('SELECT id FROM migrations ORDER BY id').catch(() => [])
    const missing = migrations.filter(({ id }) => !applied.some(done => done.id === id))
    if (missing.length === 0) return
    const names = missing.map(({ name }) => name).join(', ')
    throw new StoreError(`The database is not up to date (${names}). Run marketplace db migrate first.`)
  })

const apply = async (tx: Tx, { id, name, sql }: Migration, now: number) => {
  for (const statement of statements(sql)) await tx.run(statement)
  await tx.run('INSERT INTO migrations (id, name, applied_at) VALUES ($1, $2, $3)', [id, name, now])
}

const statements = (sql: string) =>
  sql
    .split(/;[ \t]*(?:--[^\n]*)?(?:\r?\n|$)/)
    .map(statement => statement.trim())
    .filter(statement => statement.replace(/--[^\n]*/g, '').trim())

const tooNew = (id: number, name: string) =>
  new StoreError(
    `The database has migration ${id} (${name}), which this program doesn't know. Use the newer version that made it.`,
  )
