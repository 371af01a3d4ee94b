// engines: postgres; process: own; lengths: long
/**
 * A server that only speaks as Postgres does: what it lacks is named at the start and done without, and nothing that it refuses is asked
 * of it afterwards. The long run tries most tests on it. Source: A-323.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpUser } from '../../src/sim/http-user.ts'
import { StoreError } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { openInstances } from '../support/instances.ts'
import { refusalOf, startNarrowPostgres } from '../support/narrow-postgres.ts'

const server = await startNarrowPostgres()
process.env.TEST_DATABASE_URL = server.url

test('what such a server refuses is what the marketplace might ask of a Postgres', () => {
  const refusals: Readonly<Record<string, string | undefined>> = {
    'SELECT pg_advisory_xact_lock(1)': 'advisory locks',
    'CREATE UNLOGGED TABLE a (id TEXT)': 'unlogged tables',
    'CREATE TABLE a (id TEXT COLLATE "C")': 'collations of columns',
    'BEGIN ISOLATION LEVEL READ COMMITTED': 'levels of isolation',
    'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY': undefined,
    'WITH w0 AS (UPDATE a SET b = 1), w1 AS (UPDATE a SET b = 2) SELECT 1': 'two writes of a table in one statement',
    'WITH w0 AS (UPDATE a SET b = 1), w1 AS (INSERT INTO c (d) VALUES (2)) SELECT 1': undefined,
    'INSERT INTO a (b) VALUES (1) ON CONFLICT (b) DO UPDATE SET b = 2': undefined,
    "UPDATE a SET b = 'UPDATE a' WHERE c = (SELECT c FROM a FOR NO KEY UPDATE SKIP LOCKED)": undefined,
  }
  for (const [sql, refusal] of Object.entries(refusals)) assert.is(refusalOf(sql), refusal, sql)
})

test('of several that make the tables at one moment one does, and the others find them', async () => {
  const { url, drop } = await freshDatabase()
  const all = await Promise.all([1, 2, 3].map(() => openPostgres({ url })))
  const made = await Promise.all(all.map(db => migrate(db, migrations, Date.now)))
  assert.equal(made.map(({ length }) => length).sort(), [0, 0, migrations.length])
  let [inside, most] = [0, 0]
  const alone = all.map(db =>
    db.migrate(async tx => {
      most = Math.max(most, ++inside)
      await tx.get('SELECT pg_sleep(0.02)').finally(() => inside--)
    }),
  )
  await Promise.all(alone)
  assert.is(most, 1)
  await Promise.all(all.map(db => db.close()))
  await drop()
})

test('it is named at the start, and instances that begin at one moment share it: no cent and no webhook is lost', async () => {
  const warnings: string[] = []
  const before = new Map(server.refused)
  const log = (entry: { type: string; message?: string }) =>
    void (entry.type === 'warning' && warnings.push(entry.message!))
  const { marketplace, join, runDue, close } = await openInstances({ log })
  const instances = [marketplace, ...(await Promise.all([join(), join(), join()]))]
  const all = 'levels of isolation, no advisory locks, no unlogged tables, no collations of columns'
  assert.is(warnings.filter(message => message.includes(`it has no ${all}.`)).length, instances.length)
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const buyers = await Promise.all([marketplace.join('one', 100_000), marketplace.join('other', 100_000)])
  const live = async (i: number) => {
    const [buyer, worker] = [buyers[i % 2]!, builder].map(({ key }, side) =>
      Object.assign(new HttpUser(instances[(i + side) % instances.length]!.url), { key }),
    ) as [HttpUser, HttpUser]
    const { id } = await marketplace.draft(buyers[i % 2]!, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`, {}, 'key')
    await worker.call('POST', `/api/tasks/${id}/accept`, {}, 'key')
    await worker.call('POST', `/api/tasks/${id}/deliver`, { content: 'Done' }, 'key')
    await buyer.call('POST', `/api/tasks/${id}/approve`, {}, 'key')
  }
  await Promise.all(Array.from({ length: 24 }, (_, i) => live(i)))
  await runDue()
  await marketplace.checkLedger()
  assert.equal(await marketplace.balances(builder.id), { available: 0, held: 0, clearing: 24_000 })
  assert.is(agent.sink.received.filter(({ event }) => event === 'task.submitted').length, 24)
  await close()
  // Each start has asked once, and nobody ever again.
  assert.is(server.refused.size, all.split(', ').length)
  for (const [what, count] of server.refused) assert.is(count - before.get(what)!, instances.length, what)
})

test('a database in another order than that of bytes is refused in words, where columns take no collation', async () => {
  const { url, drop } = await freshDatabase({ english: true })
  const opened = await openPostgres({ url }).catch(error => error)
  if (opened instanceof Error) {
    assert.instance(opened, StoreError)
    assert.match(opened.message, /^This server takes no collation of columns, .* Make one with the collation C\.$/)
  } else {
    console.log('not tried: an order that is not that of bytes: this server knows no collations of ICU')
    await opened.close()
  }
  await drop()
})

test.after(() => server.stop())
test.run()
