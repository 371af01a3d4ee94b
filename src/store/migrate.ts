/** Migrates the schema of a database, on any engine. Source: A-105. */
import { createHash } from 'node:crypto'
import { type Db, StoreError, type Tx } from './db.ts'

export interface Migration {
  id: number
  name: string
  /** Statements, each ending in a semicolon at the end of a line; comments begin with `--` and stand in no text. */
  sql: string
}

const TABLE = `CREATE TABLE IF NOT EXISTS migrations
  (id BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, applied_at BIGINT NOT NULL)`

interface Applied {
  id: number
  name: string
  hash: string
}

const APPLIED = 'SELECT id, name, hash FROM migrations ORDER BY id'

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
    const applied = await tx.all<Applied>(APPLIED).catch(refuseUnhashed)
    refuseEdited(applied, migrations)
    refuseNewer(applied, migrations)
    const missing = missingIn(applied, migrations)
    for (const migration of missing) await apply(tx, migration, now())
    return missing.map(({ name }) => name)
  })

/** Throws a StoreError unless everything this program knows is applied. More may be: by a newer instance beside this one. */
export const proveMigrated = (db: Db, migrations: readonly Migration[]): Promise<void> =>
  db.read(async q => {
    const applied = await q.all<Applied>(APPLIED).catch(refuseUnhashed)
    refuseEdited(applied, migrations)
    const missing = missingIn(applied, migrations)
    if (missing.length === 0) return
    const names = missing.map(({ name }) => name).join(', ')
    throw new StoreError(
      `The database is not up to date (${names}). Run npx agent-marketplace db migrate DATABASE first.`,
    )
  })

const missingIn = (applied: readonly Applied[], migrations: readonly Migration[]) =>
  migrations.filter(({ id }) => !applied.some(done => done.id === id))

function refuseEdited(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const { id, name, hash } of applied) {
    const known = migrations.find(migration => migration.id === id)
    if (known && known.name !== name) throw another(`its migration ${id} is “${name}”, here it is “${known.name}”`)
    if (known && hashOf(known) !== hash) throw another(`its migration ${id} (${name}) was another than the one here`)
  }
}

/** A database without any table has no migrations. One of an early build kept no hash of them. */
function refuseUnhashed(error: Error): Applied[] {
  if (/\bhash\b/.test(error.message)) throw another('it has no hash of its migrations')
  if (/\bmigrations\b/.test(error.message)) return []
  throw error
}

function refuseNewer(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const { id, name } of applied) if (!migrations.some(known => known.id === id)) throw newer(id, name)
}

const apply = async (tx: Tx, { id, name, sql }: Migration, now: number) => {
  for (const statement of statements(sql)) await tx.run(statement)
  const values = [id, name, hashOf({ sql }), now]
  await tx.run('INSERT INTO migrations (id, name, hash, applied_at) VALUES ($1, $2, $3, $4)', values)
}

/** Of what an engine is given: comments and spaces may change. @internal Databases of releases are compared by it. */
export const hashOf = ({ sql }: Pick<Migration, 'sql'>) =>
  createHash('sha256').update(statements(sql).join(';\n').replace(/\s+/g, ' ')).digest('hex')

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
const another = (difference: string) =>
  new StoreError(
    `The database was made by another build than this one, or from before the first release: ${difference}. ` +
      'Use the build that made it, or begin with a new database: name another file, or an empty database of Postgres.',
  )
