/** Copies all rows of one database into another, on any engine. */
import { type Db, type Reader, StoreError, type Tx, type Value } from './db.ts'
import { guesses, knownAddresses } from './tables/accounts/guesses.ts'
import { apiKeys, apiKeyUses } from './tables/accounts/keys.ts'
import { mails, securityNotices } from './tables/accounts/mails.ts'
import { notifications } from './tables/accounts/notifications.ts'
import { passwordResets } from './tables/accounts/password-resets.ts'
import { recoveryCodes, secondFactors } from './tables/accounts/second-factors.ts'
import { sessions } from './tables/accounts/sessions.ts'
import { users } from './tables/accounts/users.ts'
import { agentReports, agentTests } from './tables/agents/agent-tests.ts'
import { agents } from './tables/agents/agents.ts'
import { agentCategories, categories } from './tables/agents/categories.ts'
import { samples } from './tables/agents/samples.ts'
import { agentTerms } from './tables/agents/search-words.ts'
import { budgetAuthorizations, budgetCategories } from './tables/money/budgets.ts'
import { ledgerAccounts, ledgerEntries, settlements, transfers } from './tables/money/transfers.ts'
import { idempotencyKeys, idempotencyUsage } from './tables/requests/idempotency-keys.ts'
import { rateWindows } from './tables/requests/rate-windows.ts'
import { seenSignatures } from './tables/requests/seen-signatures.ts'
import { tallies } from './tables/tallies.ts'
import { messages, reviews } from './tables/tasks/conversation.ts'
import { deliverables, uploads } from './tables/tasks/deliverables.ts'
import { taskSteps } from './tables/tasks/task-steps.ts'
import { disputes, tasks } from './tables/tasks/tasks.ts'
import { workSums } from './tables/tasks/work-sums.ts'
import { fileLocations } from './tables/upkeep/file-locations.ts'
import { jobs } from './tables/upkeep/jobs.ts'
import { purges } from './tables/upkeep/purges.ts'
import { settings } from './tables/upkeep/settings.ts'
import { fileUsage, textUsage } from './tables/upkeep/usage.ts'
import { attempts, deliveries } from './tables/webhooks/outbox.ts'
import { senders } from './tables/webhooks/senders.ts'

/** Each behind those it refers to. */
const copied = [
  users,
  sessions,
  secondFactors,
  recoveryCodes,
  knownAddresses,
  apiKeys,
  apiKeyUses,
  settings,
  categories,
  agents,
  agentCategories,
  agentTerms,
  agentReports,
  tasks,
  taskSteps,
  deliverables,
  fileUsage,
  textUsage,
  disputes,
  messages,
  reviews,
  seenSignatures,
  ledgerAccounts,
  transfers,
  ledgerEntries,
  settlements,
  deliveries,
  attempts,
  samples,
  notifications,
  jobs,
  budgetAuthorizations,
  budgetCategories,
  idempotencyKeys,
  idempotencyUsage,
  mails,
  securityNotices,
  passwordResets,
  uploads,
  tallies,
  workSums,
  purges,
]

/** @internal A table that is in neither list is not copied, so a test compares both with the schema. */
export const tables = copied.map(({ name }) => name)

/**
 * What lives as long as a process: a connection test that runs, the requests that were counted, where files are kept, who sends webhooks.
 * @internal A test compares both lists with the schema.
 */
export const leftBehind = [agentTests, fileLocations, guesses, rateWindows, senders].map(({ name }) => name)

/** Tables with rows that migrations write. Those rows are replaced by the source's. */
const FURNISHED = ['accounts', 'categories'] as const

/** How many values a statement may have. Engines allow some ten thousand. */
const VALUES_AT_ONCE = 4_000

export type Counts = Readonly<Record<string, number>>

/**
 * Copies all tables in one transaction. `prove` checks the result and may still reject it by throwing. Both databases must be
 * migrated. Throws a StoreError if the target has more rows than its migrations wrote.
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

/** Returns the columns of the primary key in order. The source must be the embedded engine, which is asked by a PRAGMA. */
const keyOf = async (q: Reader, table: string) =>
  (await q.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`)).map(
    ({ name }) => name,
  )

const ROWS_AT_ONCE = 200

function pageOf(q: Reader, table: string, key: readonly string[], after: Row | undefined): Promise<Row[]> {
  const columns = key.join(', ')
  const placeholders = key.map((_, i) => `$${i + 1}`).join(', ')
  const where = after ? `WHERE (${columns}) > (${placeholders})` : ''
  const values = after ? key.map(column => after[column] as Value) : []
  return q.all<Row>(`SELECT * FROM ${table} ${where} ORDER BY ${columns} LIMIT ${ROWS_AT_ONCE}`, values)
}

async function insertAll(tx: Tx, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0]!)
  const size = Math.floor(VALUES_AT_ONCE / columns.length)
  for (let at = 0; at < rows.length; at += size) {
    const some = rows.slice(at, at + size)
    const placeholders = some.map((_, i) => `(${columns.map((_, j) => `$${i * columns.length + j + 1}`).join(', ')})`)
    const values = some.flatMap(row => columns.map(column => row[column] as Value))
    await tx.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES ${placeholders.join(', ')}`, values)
  }
}
