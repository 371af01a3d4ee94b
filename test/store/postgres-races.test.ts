// engines: postgres; process: own
/** What loses against others at the same moment is done anew, or says so in its own words; so does a busy Postgres. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { refuse } from '../../src/api/failures.ts'
import { BusyError, ConstraintError } from '../../src/store/db.ts'
import { openPostgres, type PostgresOptions } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { openTestMarketplace, type TestMarketplace, taskFields } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'

const add = 'UPDATE rows SET count = count + 1 WHERE id = $1'

async function openRows(options: Partial<PostgresOptions> = {}) {
  const { url, drop } = await freshDatabase()
  const db = await openPostgres({ url, ...options })
  await db.migrate(async tx => {
    await tx.run('CREATE TABLE rows (id TEXT PRIMARY KEY, count BIGINT NOT NULL)')
    await tx.run(`INSERT INTO rows (id, count) VALUES ('a', 0), ('b', 0), ('c', 0)`)
  })
  const counts = () => db.read(q => q.all<{ id: string; count: number }>('SELECT id, count FROM rows ORDER BY id'))
  const close = async () => {
    await db.close()
    await drop()
  }
  return { url, db, counts, close }
}

/** Resolves once so many have come. */
function meeting(count: number) {
  let come = () => {}
  const all = new Promise<void>(resolve => {
    come = resolve
  })
  return () => {
    if (--count === 0) come()
    return all
  }
}

test('a deadlock is resolved by another try, also where a statement that travels behind the loser fails first', async () => {
  const { db, counts, close } = await openRows()
  const met = meeting(2)
  let tries = 0
  const cross = (mine: string, others: string) =>
    db.write(async tx => {
      tries++
      await tx.run(add, [mine])
      await met()
      // The one that can lose is several calls deep, as money is; the one behind it is not.
      const deep = async () => (async () => (async () => tx.run(add, [others]))())()
      await Promise.all([deep(), tx.run(add, ['c'])])
    })
  await Promise.all([cross('a', 'b'), cross('b', 'a')])
  assert.is(tries, 3)
  const both = await counts()
  assert.equal(
    both.map(({ count }) => count),
    [2, 2, 2],
  )
  await close()
})

test('rows are held in the order of their ids, however they lie and are named', async () => {
  const { db, close } = await openRows()
  // Its new version lies behind the others.
  await db.write(tx => tx.run(add, ['a']))
  let free = () => {}
  const held = new Promise<void>(resolve => (free = resolve))
  const has = meeting(2)
  const first = db.write(async tx => {
    await tx.lock('rows', 'a')
    await has()
    await held
  })
  await has()
  const both = db.write(tx => tx.lock('rows', 'c', 'a', 'b'))
  const isWaiting = () =>
    db.read(q =>
      q.get<{ n: number }>(
        `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ),
    )
  await until('the one that waits', async () => ((await isWaiting())?.n ?? 0) > 0)
  await db.write(tx => tx.lock('rows', 'b'))
  free()
  await Promise.all([first, both])
  await close()
})

test('a transaction in which something has failed is not acknowledged, though its work went on', async () => {
  const { db, counts, close } = await openRows()
  const careless = db.write(async tx => {
    await tx.run(add, ['a'])
    await tx.run(`INSERT INTO rows (id, count) VALUES ('a', 0)`).catch(() => {})
  })
  await assertRejects(careless, error => error instanceof ConstraintError && error.kind === 'unique')
  assert.is((await counts())[0]!.count, 0)
  await close()
})

test('a statement that takes too long, and a Postgres that has no connection left, are a database that is busy', async () => {
  const { url, db, close } = await openRows({ statementTimeoutMs: 1_000 })
  const role = `few_${process.pid}`
  await asOwner(url, `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 1`)
  await assertRejects(
    db.read(q => q.get('SELECT pg_sleep(5)')),
    isBusy,
  )
  const few = new URL(url)
  few.username = role
  const scarce = await openPostgres({ url: few.href, queueTimeoutMs: 500 })
  await scarce.read(async q => {
    await q.get('SELECT 1 AS one')
    await assertRejects(
      scarce.read(other => other.get('SELECT 1 AS one')),
      isBusy,
    )
  })
  await scarce.close()
  await asOwner(url, `DROP ROLE ${role}`)
  await close()
})

const isBusy = (error: unknown) => error instanceof BusyError

async function assertRejects(promise: Promise<unknown>, expected: (error: unknown) => boolean) {
  const error = await promise.then(
    () => null,
    error => error,
  )
  assert.ok(expected(error), `rejected with ${error}`)
}

async function asOwner(url: string, sql: string) {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

/** From now on the next `times` writes of this table lose, as against others that wrote the same rows. */
const lose = (url: string, table: string, times: number, code: string) =>
  asOwner(
    url,
    `CREATE OR REPLACE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF nextval('losses') <= ${times} THEN RAISE EXCEPTION 'lost' USING ERRCODE = '${code}'; END IF;
       RETURN NEW;
     END $$;
     CREATE SEQUENCE losses;
     CREATE TRIGGER loses BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION lose()`,
  )

const win = (url: string) => asOwner(url, 'DROP FUNCTION lose() CASCADE; DROP SEQUENCE losses')

async function withMarketplace(use: (marketplace: TestMarketplace, url: string) => Promise<void>) {
  const { url, drop } = await freshDatabase()
  const marketplace = await openTestMarketplace({ postgres: { url }, secretKey: randomBytes(32).toString('base64') })
  try {
    await use(marketplace, url)
  } finally {
    await marketplace.close(0)
    await drop()
  }
}

for (const [name, code] of [
  ['a deadlock', '40P01'],
  ['a serialization failure', '40001'],
]) {
  test(`a step whose money loses by ${name} is taken by another try, with its event`, () =>
    withMarketplace(async (marketplace, url) => {
      const buyer = await marketplace.join('buyer', 10_000)
      const agent = await marketplace.list(await marketplace.join('builder'))
      const { id } = await marketplace.draft(buyer, agent)
      await lose(url, 'accounts', 5, code!)
      const { status } = await buyer.ask<{ status: string }>('POST', `/api/tasks/${id}/submit`)
      assert.is(status, 200)
      await win(url)
      await marketplace.webhooksSent()
      assert.equal(
        agent.sink.received.map(({ event }) => event),
        ['task.submitted'],
      )
      await marketplace.checkLedger()
    }))
}

test('submissions and approvals of one buyer and one agent at once never wait for each other in a circle', async () => {
  const { url, drop } = await freshDatabase()
  const marketplace = await openTestMarketplace({ postgres: { url }, secretKey: randomBytes(32).toString('base64') })
  const buyer = await marketplace.join('buyer', 500_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const draftAll = () => Promise.all(Array.from({ length: 30 }, () => marketplace.draft(buyer, agent)))
  const stepAll = (tasks: { id: string }[], step: string) =>
    Promise.all(tasks.map(({ id }) => buyer.call('POST', `/api/tasks/${id}/${step}`)))
  const delivered = await draftAll()
  await stepAll(delivered, 'submit')
  for (const { id } of delivered)
    for (const step of [{ action: 'accept' }, { action: 'deliver', content: 'x' }])
      await marketplace.callback(agent, id, step)
  const drafts = await draftAll()
  await Promise.all([stepAll(drafts, 'submit'), stepAll(delivered, 'approve')])
  await marketplace.checkLedger()
  await marketplace.close(0)
  assert.equal(await deadlocksOf(url), [{ deadlocks: '0' }])
  await drop()
})

test('withdrawals that are asked for and others that are decided at once never wait for each other in a circle', async () => {
  const { url, drop } = await freshDatabase()
  const secretKey = randomBytes(32).toString('base64')
  const marketplace = await openTestMarketplace({ postgres: { url }, secretKey, payments: 'manual' })
  const { admin } = marketplace
  const user = await marketplace.join('member')
  await admin.call('PUT', `/api/admin/users/${user.id}`, { connectStatus: 'connected' })
  const { id } = await user.call<{ id: string }>('POST', '/api/wallet/deposit', { amount: 500_000 })
  await admin.call('POST', `/api/admin/deposits/${id}/confirm`)
  const ask = () => user.call<{ id: string }>('POST', '/api/wallet/withdraw', { amount: 1_000 })
  const decide = (id: string, i: number) =>
    admin.call('POST', `/api/admin/withdrawals/${id}/${i % 2 ? 'confirm' : 'reject'}`)
  const asked = await Promise.all(Array.from({ length: 60 }, ask))
  await Promise.all(asked.flatMap(({ id }, i) => [ask(), decide(id, i)]))
  await marketplace.checkLedger()
  await marketplace.close(0)
  assert.equal(await deadlocksOf(url), [{ deadlocks: '0' }])
  await drop()
})

/** Connections say what befell them when they end at the latest. */
const deadlocksOf = (url: string) =>
  asOwner(
    process.env.TEST_DATABASE_URL!,
    `SELECT deadlocks FROM pg_stat_database WHERE datname = '${new URL(url).pathname.slice(1)}'`,
  )

test('whoever loses every time is told so with 409, and the key of the request stays free', () =>
  withMarketplace(async (marketplace, url) => {
    const buyer = await marketplace.join('buyer', 10_000)
    const agent = await marketplace.list(await marketplace.join('builder'))
    const create = async () => {
      const answer = await fetch(`${marketplace.url}/api/tasks`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${buyer.key}`,
          'content-type': 'application/json',
          'idempotency-key': 'once',
        },
        body: JSON.stringify({ ...taskFields, agentId: agent.id }),
      })
      return { status: answer.status, error: ((await answer.json()) as { error?: string }).error }
    }
    await lose(url, 'tasks', Number.MAX_SAFE_INTEGER, '40P01')
    assert.equal(await create(), { status: 409, error: refuse('lost_race').message })
    await win(url)
    assert.is((await create()).status, 201)
  }))

test.run()
