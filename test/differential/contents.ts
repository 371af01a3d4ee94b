/** Every row of every table, in an order and in words that both engines share. */

import { unpacked } from '../../src/store/packed-text.ts'
import { sumNames } from '../../src/store/tables/tasks/work-sums.ts'
import type { Side } from './side.ts'

const tableNames: Readonly<Record<string, string>> = {
  embedded: `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`,
  postgres: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name`,
}

/** Where one process alone holds the database, it counts in memory, shares no files and sends alone. `migrations` says when each ran. */
const LEFT_OUT = /^(?:rate_windows|guesses|file_locations|senders|migrations|sqlite_.*)$/

/** Where one process alone sends, no row says who. */
const CLAIMED_BY = 'sender'

/** Made of secrets, or of ids of this side: only whether they are there. */
const DIGEST = /(?:_hash|^signature|^fingerprint|^request_id)$/
const SEALED = /^[0-9a-f]{8}(?:\.[\w-]+){3}$/
/** Secrets that an agent had before. */
const SEALED_LIST = /^\[(?:"[0-9a-f]{8}(?:\.[\w-]+){3}",?)+\]$/
/** What a database is told from others by. */
const INSTANCE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The ledger in the order in which it was written, then what else must never differ, then the rest by name. */
const FIRST = ['accounts', 'transfers', 'settlements', 'entries', 'tasks']

export async function contentsOf({ market, engine, names }: Side, only?: readonly string[]) {
  const tables = await market.db.read(async q => {
    const all = (await q.all<{ name: string }>(tableNames[engine]!)).map(({ name }) => name)
    const others = all.filter(name => !LEFT_OUT.test(name) && !FIRST.includes(name))
    const tables = new Map<string, Row[]>()
    for (const table of only ?? [...FIRST, ...others]) tables.set(table, await q.all<Row>(rowsOf(table)))
    return tables
  })
  // Ids grow with time, so they are named in the order in which they were made.
  for (const rows of tables.values()) for (const { id } of rows.sort(byId)) if (isText(id)) names.named(id)
  return new Map([...tables].map(([table, rows]) => [table, linesOf(rows, names)]))
}

const SELECTS: Readonly<Record<string, string>> = {
  // Which part of a tally a row counts in follows from its id.
  tallies: 'SELECT name, CAST(SUM(count) AS BIGINT) AS count FROM tallies GROUP BY name',
  work_sums: `SELECT whose, ${sumNames.map(name => `CAST(SUM(${name}) AS BIGINT) AS ${name}`).join(', ')} FROM work_sums GROUP BY whose`,
  // A heartbeat tests several agents at once: which of them is first is the engine's own affair.
  agent_tests: 'SELECT agent_id, callback, ended FROM agent_tests',
  // Its words name URLs, and how long it took.
  agent_reports: 'SELECT agent_id, kind, tested_at FROM agent_reports',
  // Mails go side by side, and are gone: their ids are named in the order of the accounts.
  password_resets: 'SELECT * FROM password_resets ORDER BY user_id, created_at',
}

const rowsOf = (table: string) => SELECTS[table] ?? `SELECT * FROM ${table}`

type Row = Record<string, unknown>

const isText = (value: unknown): value is string => typeof value === 'string'

function byId({ id: one }: Row, { id: other }: Row): number {
  if (!isText(one) || !isText(other)) return 0
  return one < other ? -1 : one > other ? 1 : 0
}

function linesOf(rows: readonly Row[], names: Side['names']): string[] {
  const keys = Object.keys(rows[0] ?? {})
    .filter(key => key !== CLAIMED_BY)
    .sort()
  const told = (row: Row, key: string) => (isSecret(key, row[key]) ? 'a secret' : asWritten(row, key))
  const lines = rows.map(row => names.named(keys.map(key => `${key}=${JSON.stringify(told(row, key))}`).join(' ')))
  return keys.includes('id') ? lines : lines.sort()
}

/** Ids in a packed text can't be named. */
const asWritten = (row: Row, key: string) => {
  const value = row[key]
  const mayBePacked = key === 'body' || (key === 'answer' && 'fingerprint' in row)
  return mayBePacked && isText(value) ? unpacked(value) : value
}

const isSecret = (key: string, value: unknown) =>
  isText(value) && (DIGEST.test(key) || SEALED.test(value) || SEALED_LIST.test(value) || INSTANCE.test(value))
