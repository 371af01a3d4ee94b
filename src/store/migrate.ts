/** Migrates the schema of a database, on any engine. */
import { type Db, StoreError, type Tx } from './db.ts'

export interface Migration {
  id: number
  name: string
  /** Statements, each ending in a semicolon at the end of a line; comments begin with `--` and stand in no text. */
  sql: string
}

const TABLE =
  'CREATE TABLE IF NOT EXISTS migrations (id BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)'

interface Applied {
  id: number
  name: string
}

/**
 * Applies what is missing, in order, all or nothing. Returns the names of what it applied. Throws a StoreError if the
 * database has a migration that the program doesn't know.
 */
export const migrate = (
  db: Pick<Db, 'migrate'>,
  migrations: readonly Migration[],
  now: () => number,
): Promise<string[]> =>
  db.migrate(async tx => {
    await tx.run(TABLE)
    const applied = await tx.all<Applied>('SELECT id, name FROM migrations ORDER BY id')
    refuseUnreleased(applied, migrations)
    refuseNewer(applied, migrations)
    const missing = missingIn(applied, migrations)
    for (const migration of missing) await apply(tx, migration, now())
    return missing.map(({ name }) => name)
  })

/** Throws a StoreError unless everything this program knows is applied. More may be: by a newer instance beside this one. */
export const proveMigrated = (db: Db, migrations: readonly Migration[]): Promise<void> =>
  db.read(async q => {
    const applied = await q.all<Applied>('SELECT id, name FROM migrations ORDER BY id').catch(() => [])
    refuseUnreleased(applied, migrations)
    const missing = missingIn(applied, migrations)
    if (missing.length === 0) return
    const names = missing.map(({ name }) => name).join(', ')
    throw new StoreError(`The database is not up to date (${names}). Run marketplace db migrate first.`)
  })

const missingIn = (applied: readonly Applied[], migrations: readonly Migration[]) =>
  migrations.filter(({ id }) => !applied.some(done => done.id === id))

function refuseUnreleased(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const { id, name } of applied) {
    const known = migrations.find(migration => migration.id === id)
    if (known && known.name !== name) throw unreleased(id, name, known.name)
  }
}

function refuseNewer(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const { id, name } of applied) if (!migrations.some(known => known.id === id)) throw newer(id, name)
}

const apply = async (tx: Tx, { id, name, sql }: Migration, now: number) => {
  for (const statement of statements(sql)) await tx.run(statement)
  await tx.run('INSERT INTO migrations (id, name, applied_at) VALUES ($1, $2, $3)', [id, name, now])
}

const COMMENT = /--[^\n]*/g

const statements = (sql: string) =>
  sql
    .replace(COMMENT, '')
    .split(/;[ \t]*(?:\r?\n|$)/)
    .map(statement => statement.trim())
    .filter(Boolean)

const newer = (id: number, name: string) =>
  new StoreError(
    `The database has migration ${id} (${name}), which this program doesn't know. Use the newer version that made it.`,
  )

/** Source: A-227. */
const unreleased = (id: number, name: string, known: string) =>
  new StoreError(
    `The database was made by a build from before the first release: its migration ${id} is “${name}”, here it is “${known}”. ` +
      'Use the build that made it, or begin with a new database: name another file, or an empty database of Postgres.',
  )
