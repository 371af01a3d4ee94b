// engines: postgres; process: own; lengths: short, long
/** How both engines look for what a list shows: by an index, whatever the list, so that no page takes longer as tables grow. */
import pg from 'pg'
import initSqlJs from 'sql.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../src/api/endpoints/index.ts'
import type { Actor } from '../../src/market/market.ts'
import { verbs } from '../../src/market/verbs.ts'
import type { Db, Tx } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { postgresText } from '../../src/store/postgres/sql-text.ts'
import { userById } from '../../src/store/tables/accounts/users.ts'
import { recording, type Step } from '../bench/record.ts'
import { busyTask, crowdStatements, SOMEONE, userId } from '../support/crowd.ts'
import { freshDatabase } from '../support/databases.ts'
import { amount } from '../support/length.ts'
import { type Ask, listsOf, listsOfAdmin, listsOfSession } from '../support/lists.ts'
import { sameNames } from '../support/same-names.ts'

const NOW = Date.UTC(2026, 5, 1)
const crowd = {
  tasks: amount({ short: 10_000, long: 20_000 }),
  people: 10_000,
  traders: 100,
  now: NOW,
}
const asks = [...listsOf(busyTask(crowd)), ...listsOfSession, ...listsOfAdmin]

/** What a marketplace of any size has few rows of. */
const SMALL = new Set(['categories', 'settings', 'jobs', 'tallies'])

/** The statements that answer the second page. */
async function stepsOf(db: Db, { name, params, query }: Ask): Promise<Step[]> {
  const steps: Step[] = []
  await db.read(async q => {
    const user = (await userById(q, userId(SOMEONE)))!
    const actor: Actor = { user: { ...user, isAdmin: 1 }, via: 'key', credential: 'plans' }
    const tx = recording(q as Tx, steps)
    const world = { now: () => NOW }
    const verb = verbs[name] as (ctx: object, input: object) => Promise<unknown>
    await verb({ tx, world, config: { currency: 'USD' }, actor }, { params, query: { ...query, page: 2, limit: 20 } })
  })
  return steps
}

const nameOf = ({ name, query }: Ask) => `${name} ${JSON.stringify(query)}`

const start = ({ sql }: Step) => sql.replace(/\s+/g, ' ').slice(0, 120)

const literal = (value: unknown) =>
  typeof value === 'number' ? String(value) : value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  Plans?: Plan[]
}

const readWhole = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' && !SMALL.has(plan['Relation Name']!) ? [plan['Relation Name']!] : []),
  ...(plan.Plans ?? []).flatMap(readWhole),
]

/** The tables that Postgres reads from end to end for a statement that it has been asked for often. */
async function scannedByPostgres(client: pg.Client, { sql, values }: Step): Promise<string[]> {
  const execute = `EXECUTE asked${values.length > 0 ? `(${values.map(literal).join(', ')})` : ''}`
  await client.query(`PREPARE asked AS ${postgresText(sql).text}`)
  // After five it may settle on one plan for all values.
  for (let i = 0; i < 6; i++) await client.query(execute)
  const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${execute}`)
  await client.query('DEALLOCATE asked')
  return readWhole(rows[0]['QUERY PLAN'][0].Plan)
}

/** A `SCAN` of a table and not of one of its indexes, in the embedded engine's words. */
const isScan = (detail: string) =>
  /^SCAN (?!\d|CONSTANT|side\d|shown\d|mine|\()/.test(detail) && !detail.includes(' USING ')

async function scannedBySqlite(): Promise<(step: Step) => string[]> {
  const sqlite = new (await initSqlJs()).Database()
  for (const { sql } of migrations) sqlite.run(sql)
  return ({ sql }) => {
    const details = (sqlite.exec(`EXPLAIN QUERY PLAN ${sql}`)[0]?.values ?? []).map(row => String(row[3]))
    // What a subquery with a bound of its own has found.
    const bounded = details.flatMap(detail => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/.exec(detail)?.[1] ?? [])
    return details.filter(detail => isScan(detail) && !bounded.some(name => detail === `SCAN ${name}`))
  }
}

/** Lists that no table holds. */
const IN_MEMORY = ['listExchanges']

test('every list is asked for here', () => {
  const lists = Object.entries(endpoints).flatMap(([name, record]) =>
    'list' in record && !IN_MEMORY.includes(name) ? [name] : [],
  )
  sameNames(new Set(asks.map(({ name }) => name)), lists)
})

test('no page of a list reads a table that grows from end to end, on either engine', async () => {
  const { url, drop } = await freshDatabase()
  const db = await openPostgres({ url })
  const client = new pg.Client(url)
  await client.connect()
  try {
    await migrate(db, migrations, () => NOW)
    for (const sql of crowdStatements(crowd)) await client.query(sql)
    await client.query('VACUUM ANALYZE')
    const embedded = await scannedBySqlite()
    const faults: string[] = []
    for (const ask of asks) {
      for (const step of await stepsOf(db, ask)) {
        const server = await scannedByPostgres(client, step)
        if (server.length > 0)
          faults.push(`${nameOf(ask)}: Postgres reads all of ${server.join(', ')} for ${start(step)}`)
        const scans = embedded(step)
        if (scans.length > 0) faults.push(`${nameOf(ask)}: SQLite does ${scans.join(', ')} for ${start(step)}`)
      }
    }
    assert.is(faults.length, 0, faults.join('\n'))
  } finally {
    await client.end()
    await db.close()
    await drop()
  }
})

test.run()
