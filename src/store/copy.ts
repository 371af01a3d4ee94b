/** Everything of one database into another, whatever their engines. */
import { type Db, type Reader, StoreError, type Tx, type Value } from './db.ts'

/**
 * Each behind those it refers to. A table that is not named here is not copied, so a test compares this with the schema.
 * @internal A test compares both lists with the schema.
 */
export const tables = [
  'users',
  'sessions',
  'second_factors',
  'recovery_codes',
  'known_addresses',
  'api_keys',
  'api_key_uses',
  'settings',
  'categories',
  'agents',
  'agent_categories',
  'agent_terms',
  'tasks',
  'deliverables',
  'file_usage',
  'text_usage',
  'disputes',
  'messages',
  'reviews',
  'seen_signatures',
  'accounts',
  'transfers',
  'entries',
  'settlements',
  'deliveries',
  'attempts',
  'samples',
  'notifications',
  'jobs',
  'budget_authorizations',
  'budget_categories',
  'idempotency_keys',
  'idempotency_usage',
  'mails',
  'security_notices',
  'password_resets',
  'uploads',
  'tallies',
] as const

/**
 * What lives as long as a process: a connection test that runs, the requests that were counted, where files are kept.
 * @internal A test compares both lists with the schema.
 */
export const leftBehind = ['agent_tests', 'file_places', 'guesses', 'rate_windows'] as const

/** Rows that the migrations themselves write; what was made of them since comes from the source. */
const FURNISHED = ['accounts', 'categories'] as const

/** Values that one statement takes: engines allow no more than some ten thousand. */
const VALUES_AT_ONCE = 4_000

export type Counts = Readonly<Record<string, number>>

/**
 * Copies all tables in one transaction, which `prove` may still refuse by throwing. Both sides must be migrated. Throws
 * a StoreError unless the target is as empty as its migrations left it.
 */
export async function copyAll(from: Db, to: Db, prove: (tx: Tx) => Promise<void>): Promise<Counts> {
  return from.read(source =>
    to.migrate(async tx => {
      await refuseUnlessEmpty(tx)
      for (const table of [...FURNISHED].reverse()) await tx.run(`DELETE FROM ${table}`)
      const counts: Record<string, number> = {}
      for (const table of tables) counts[table] = await copyTable(source, tx, table)
      await prove(tx)
      return counts
    }),
  )
}

async function refuseUnlessEmpty(q: Reader): Promise<void> {
  for (const table of tables) {
    if ((FURNISHED as readonly string[]).includes(table)) continue
    if (!(await q.get(`SELECT 1 AS one FROM ${table} LIMIT 1`))) continue
    throw new StoreError(`The target is not empty: its table ${table} has rows. Name a new database.`)
  }
}

type Row = Record<string, Value>

async function copyTable(source: Reader, tx: Tx, table: string): Promise<number> {
  const key = await keyOf(source, table)
  let copied = 0
  let after: Row | undefined
  for (;;) {
    const page = await pageOf(source, table, key, after)
    if (page.length === 0) break
    await insertAll(tx, table, page)
    copied += page.length
    after = page.at(-1)!
  }
  const { count } = (await tx.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`))!
  if (count !== copied) throw new StoreError(`Of ${copied} rows of ${table}, ${count} have arrived. Nothing was kept.`)
  return copied
}

/** The columns of the primary key, in its order. The source is the embedded engine: nothing else can say so alike. */
const keyOf = async (q: Reader, table: string) =>
  (await q.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`)).map(
    ({ name }) => name,
  )

const ROWS_AT_ONCE = 200

function pageOf(q: Reader, table: string, key: readonly string[], after: Row | undefined): Promise<Row[]> {
  const columns = key.join(', ')
  const places = key.map((_, i) => `$${i + 1}`).join(', ')
  const where = after ? `WHERE (${columns}) > (${places})` : ''
  const values = after ? key.map(column => after[column] as Value) : []
  return q.all<Row>(`SELECT * FROM ${table} ${where} ORDER BY ${columns} LIMIT ${ROWS_AT_ONCE}`, values)
}

async function insertAll(tx: Tx, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0]!)
  const size = Math.floor(VALUES_AT_ONCE / columns.length)
  for (let at = 0; at < rows.length; at += size) {
    const some = rows.slice(at, at + size)
    const places = some.map((_, i) => `(${columns.map((_, j) => `$${i * columns.length + j + 1}`).join(', ')})`)
    const values = some.flatMap(row => columns.map(column => row[column] as Value))
    await tx.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES ${places.join(', ')}`, values)
  }
}
