// engines: embedded, postgres at length; process: own; lengths: short, long
/** No request reads more than it shows: with ten times the tasks of one account each GET costs what it did. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import initSqlJs from 'sql.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { limits } from '../../src/api/limits.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { bytesOf } from '../../src/store/embedded/sqljs-internals.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { postgresText } from '../../src/store/postgres/sql-text.ts'
import { LOOKED_THROUGH } from '../../src/store/tables/webhooks/deliveries.ts'
import { type Asked, countStatements } from '../support/counted-db.ts'
import { busyTask, crowdStatements, reviewedTask, SOMEONE, userId, workedTask } from '../support/crowd.ts'
import { engine, freshDatabase } from '../support/databases.ts'
import { amount } from '../support/length.ts'
import { listsOf, listsOfAdmin, listsOfSession, pathOf, readsOf } from '../support/lists.ts'
import { openTestMarketplace, type TestMarketplace } from '../support/marketplace.ts'
import { sameNames } from '../support/same-names.ts'

/** Of one account; it sells as many. */
const TASKS = engine === 'postgres' ? 2_000 : amount({ short: 200, long: 1_000 })
const TRADERS = 6
const PEOPLE = 300

const busy = busyTask({ traders: TRADERS })
const asks = [
  ...listsOf(busy),
  ...listsOfAdmin,
  ...listsOfSession,
  ...readsOf({ busy, reviewed: reviewedTask({ traders: TRADERS }), worked: workedTask({ traders: TRADERS }) }),
]
/** Pages for people and figures for programs, which are no part of the interface. */
const besides = [
  '/agents',
  '/agents?q=agent',
  '/agents/agent-5',
  '/agents/agent-5/hire',
  '/sitemap.xml',
  '/sitemaps/1',
  '/metrics',
]

/** What reads no table, or that of all accounts on purpose. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  checkLedger: 'compares all rows of the ledger, once at a time',
  getDevStatus: 'does so in a simulator',
  ...Object.fromEntries(
    [
      'listFaults',
      'listExchanges',
      'getExchange',
      'diagnoseExchange',
      'listMails',
      'watchEvents',
      'listConformanceRuns',
      'getConformanceRun',
    ].map(name => [name, 'shows what a simulator has in memory']),
  ),
}

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Relation Name'?: string
  'Index Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

/** The rows that scans have looked at. */
function rowsOf(plan: Plan): number {
  const isScan = plan['Relation Name'] !== undefined || plan['Index Name'] !== undefined
  const found =
    plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  return (isScan ? found * plan['Actual Loops'] : 0) + (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), 0)
}

/**
 * As if lists looked through so many entries, and not ten thousand; and the entries of a page. So a test need not have so many: with the
 * fewer tasks most lists have reached both, and whatever grows reads what it should not.
 */
const [REACH, SHOWN] = engine === 'postgres' ? [100, 20] : [20, 5]

/** Lists that have not reached them show more, and the operator's queues are six. */
const SLACK = engine === 'postgres' ? 6 * REACH : 3 * REACH

/** The trees that are entered grow deeper. */
const FACTOR = 1.2

const BOUNDS: readonly number[] = [limits.page.reach, LOOKED_THROUGH]

const shortened = ({ sql, values }: Asked): Asked => ({
  sql: sql.replace(/\bLIMIT (\d+)/g, (text, bound) => (BOUNDS.includes(Number(bound)) ? `LIMIT ${REACH}` : text)),
  values: values.map(value =>
    value === limits.page.reach ? REACH : value === limits.page.reach - 1 ? REACH - 1 : value,
  ),
})

interface Cost {
  /** Pages that are read; on Postgres rows too. */
  cost: number
  sql: string
}

/** A marketplace whose people have some tasks, and what its engine does for a statement. */
interface Place {
  marketplace: TestMarketplace
  costOf(asked: Asked): Promise<number>
  close(): Promise<void>
}

async function onPostgres(tasks: number): Promise<Place> {
  const { url, drop } = await freshDatabase({ migrated: true })
  const marketplace = await openTestMarketplace({ postgres: { url }, secretKey: randomBytes(32).toString('base64') })
  const client = new pg.Client(url)
  await client.connect()
  for (const sql of crowdOf(marketplace, tasks)) await client.query(sql)
  await client.query('VACUUM ANALYZE')
  return {
    marketplace,
    async costOf({ sql, values }) {
      await client.query(`PREPARE asked AS ${postgresText(sql).text}`)
      const execute = `EXECUTE asked${values.length > 0 ? `(${values.map(literal).join(', ')})` : ''}`
      // After five it may settle on one plan for all values.
      for (let i = 0; i < 5; i++) await client.query(`EXPLAIN ${execute}`)
      const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${execute}`)
      await client.query('DEALLOCATE asked')
      const plan: Plan = rows[0]['QUERY PLAN'][0].Plan
      return rowsOf(plan) + plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    },
    async close() {
      await client.end()
      await marketplace.close()
      await drop()
    },
  }
}

const literal = (value: unknown) =>
  typeof value === 'number' ? String(value) : value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`

/** SQLite tells no rows, but it asks for each page that it has not seen of late. */
async function embedded(tasks: number): Promise<Place> {
  const marketplace = await openTestMarketplace()
  const statements = crowdOf(marketplace, tasks)
  await marketplace.market.db.write(async tx => {
    for (const sql of statements) await tx.run(sql)
  })
  const { file, pages } = await countedFile([...migrations.map(({ sql }) => sql), ...statements])
  return {
    marketplace,
    async costOf({ sql, values }) {
      const statement = file.prepare(sql, Object.fromEntries(values.map((value, i) => [`$${i + 1}`, value])))
      const before = pages()
      while (statement.step()) {}
      statement.free()
      return pages() - before
    },
    async close() {
      file.close()
      await marketplace.close()
    },
  }
}

/** In pages. Those by which an index is entered stay. */
const CACHE = 64

/** The least that SQLite takes: a row fills one, and a handful of entries of an index do, so pages tell nearly as much as rows. */
const PAGE_BYTES = 512

/** A database that these statements have made, and how many of its pages were asked for. */
async function countedFile(statements: readonly string[]) {
  const { Database } = await initSqlJs()
  const made = new Database()
  made.run(`PRAGMA page_size = ${PAGE_BYTES}`)
  for (const sql of statements) made.run(sql)
  const bytes = made.export()
  made.close()
  let pages = 0
  const content = {
    length: Number.MAX_SAFE_INTEGER,
    subarray(from: number, to: number) {
      pages++
      return bytes.subarray(from, to)
    },
    set() {},
  }
  const file = new Database(bytesOf(content, bytes.length))
  file.run(`PRAGMA cache_size = ${CACHE}`)
  return { file, pages: () => pages }
}

const crowdOf = ({ world }: TestMarketplace, tasks: number) =>
  crowdStatements({ tasks, people: PEOPLE, traders: TRADERS, now: world.now() })

/** The cost of each request to a marketplace whose people have `factor` times the tasks. */
async function costs(factor: number): Promise<Map<string, { status: number; costs: Cost[] }>> {
  const open = engine === 'postgres' ? onPostgres : embedded
  const { marketplace, costOf, close } = await open(factor * TASKS * TRADERS)
  try {
    await marketplace.stopHeartbeat()
    // Of the crowd nobody has a password.
    const joined = await marketplace.join('someone')
    await marketplace.market.db.write(tx =>
      tx.run(
        'UPDATE users SET is_admin = 1, password_hash = (SELECT password_hash FROM users WHERE id = $1) WHERE id = $2',
        [joined.id, userId(SOMEONE)],
      ),
    )
    const someone = new HttpUser(marketplace.url)
    await someone.client.login({ email: `p${SOMEONE}@crowd.example`, password: joined.password })
    someone.key = (await someone.client.createKey({ name: 'test' })).key
    const counted = countStatements(marketplace.market.db)
    const found = new Map<string, { status: number; costs: Cost[] }>()
    const look = async (name: string, ask: () => Promise<{ status: number }>) => {
      counted.all()
      const { status } = await ask()
      const costs: Cost[] = []
      for (const asked of counted.all().filter(({ sql }) => /^\s*(?:SELECT|WITH)\b/.test(sql)))
        costs.push({ cost: await costOf(shortened(asked)), sql: asked.sql })
      found.set(name, { status, costs })
    }
    for (const { query, ...ask } of asks) {
      const record = endpoints[ask.name]
      const isList = 'list' in record
      const path = pathOf(
        { ...ask, query: { ...query, ...(isList && { limit: String(SHOWN) }) } },
        isList ? 2 : undefined,
      )
      await look(`${ask.name} ${path}`, () =>
        someone.ask('GET', path, undefined, record.auth === 'session' ? 'session' : 'key'),
      )
    }
    for (const path of besides) await look(path, () => fetch(marketplace.url + path))
    return found
  } finally {
    await close()
  }
}

const test = suite('rows that are read')

test('every GET of the interface is asked for here', () => {
  const all = Object.entries(endpoints).flatMap(([name, { method }]) => (method === 'GET' ? [name] : []))
  sameNames([...new Set(asks.map(({ name }) => name)), ...Object.keys(LEFT_OUT)], all)
})

const sum = (costs: readonly Cost[]) => Math.round(costs.reduce((all, { cost }) => all + cost, 0))

test('with ten times the tasks of one account no request reads more', async () => {
  const few = await costs(1)
  const many = await costs(10)
  const faults: string[] = []
  for (const [name, { status, costs }] of many) {
    const before = few.get(name)!
    if (process.env.SHOW) console.log(status, sum(before.costs), sum(costs), name)
    if (sum(costs) <= FACTOR * sum(before.costs) + SLACK) continue
    const worst = costs.toSorted((a, b) => b.cost - a.cost)[0]!
    faults.push(
      `${name}: ${sum(before.costs)}, then ${sum(costs)}, of which ${worst.cost} for ${worst.sql.replace(/\s+/g, ' ')}`,
    )
  }
  assert.is(faults.length, 0, faults.join('\n'))
})

test.run()
