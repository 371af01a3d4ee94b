// engines: postgres; process: own
/** Two servers, one of them a standby: it is left alone until it is promoted, then all go on with it, and nothing is lost. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { startPair, startStoppable } from '../support/postgres-server.ts'
import { closeOpened, opened } from '../support/servers.ts'

test.after.each(closeOpened)

/** What a start is told. */
const refusal = (url: string) =>
  openPostgres({ url }).then(
    () => 'nothing',
    (error: Error) => error.message,
  )

test('of two servers the one that takes writes is used; a promotion under load costs 503s, and no write that was acknowledged', async () => {
  const pair = await startPair()
  await opened({ close: () => pair.stop() })
  const refused = await refusal(pair.standby.url)
  assert.match(refused, /it is a standby, which takes no writes\. Name the server that takes writes, or all of them/)
  const [primary, standby] = [pair.primary, pair.standby].map(({ url }) => new URL(url).host)
  const url = pair.url.replace(`${primary},${standby}`, `${standby},${primary}`)
  const secretKey = randomBytes(32).toString('base64')
  const postgres = { url: `${url}?target_session_attrs=read-write`, poolSize: 4 }
  const marketplace = await openTestMarketplace({ postgres, secretKey })
  await opened({ close: () => marketplace.close(0) })
  const buyer = await marketplace.join('buyer')
  const agent = await marketplace.list(await marketplace.join('builder'))
  const acknowledged: string[] = []
  const statuses = new Set<number>()
  let isOver = false
  const work = async () => {
    while (!isOver) {
      const body = { ...taskFields, agentId: agent.id }
      const { status, data } = await buyer.ask<{ id: string }>('POST', '/api/tasks', body, 'key')
      statuses.add(status)
      if (status === 201) acknowledged.push(data!.id)
    }
  }
  const load = Promise.all([work(), work(), work()])
  const more = async (count: number) => {
    const goal = acknowledged.length + count
    await until('answers', () => acknowledged.length >= goal)
  }
  await more(20)
  await pair.primary.kill()
  await until('a refusal', () => statuses.has(503))
  assert.is((await fetch(`${marketplace.url}/readyz`)).status, 503)
  await pair.failOver()
  await more(20)
  await until('readiness', async () => (await fetch(`${marketplace.url}/readyz`)).ok)
  isOver = true
  await load
  // 500: the connection has ended while a commit was under way.
  assert.equal([...statuses].filter(status => status !== 500).sort(), [201, 503])
  const rows = await marketplace.market.db.read(q => q.all<{ id: string }>('SELECT id FROM tasks'))
  const kept = new Set(rows.map(({ id }) => id))
  assert.equal(
    acknowledged.filter(id => !kept.has(id)),
    [],
  )
  await marketplace.checkLedger()
})

test('a server that is made read-only is away until it takes writes again, and is told so at a start', async () => {
  const { url, drop } = await freshDatabase()
  await opened({ close: drop })
  const secretKey = randomBytes(32).toString('base64')
  const marketplace = await openTestMarketplace({ postgres: { url, poolSize: 2 }, secretKey, rateLimits: 'warn' })
  await opened({ close: () => marketplace.close(0) })
  const other = new pg.Client(url).on('error', () => {})
  await other.connect()
  const set = (value: string) =>
    other.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = ${value}`)
  const ask = async () => {
    const body = {
      email: `${randomBytes(4).toString('hex')}@example.com`,
      password: 'account of a test',
      name: 'An Account',
    }
    const { status, error } = await marketplace.visitor.ask('POST', '/api/auth/register', body)
    return [status, error]
  }
  assert.is((await ask())[0], 201)
  await set('on')
  // Connections keep what they began with.
  await other.query(
    'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await until('a refusal', async () => (await ask())[0] === 503)
  assert.match(String((await ask())[1]), /away or takes no writes; nothing was done/)
  await until('no readiness', async () => (await fetch(`${marketplace.url}/readyz`)).status === 503)
  assert.ok((await fetch(`${marketplace.url}/openapi.json`)).ok, 'what needs no database')
  const refused = await refusal(url)
  assert.match(refused, /default_transaction_read_only/)
  await set('off')
  await until('another account', async () => (await ask())[0] === 201)
  await until('readiness', async () => (await fetch(`${marketplace.url}/readyz`)).ok)
  await other.end()
})

test('a primary that is told to take no writes while another takes them is left at once, by all connections: no request fails, none reads what is old', async () => {
  const pair = await startPair()
  await opened({ close: () => pair.stop() })
  const secretKey = randomBytes(32).toString('base64')
  const marketplace = await openTestMarketplace({ postgres: { url: pair.url, poolSize: 4 }, secretKey })
  await opened({ close: () => marketplace.close(0) })
  const buyer = await marketplace.join('buyer')
  const agent = await marketplace.list(await marketplace.join('builder'))
  const create = () => buyer.ask<{ id: string }>('POST', '/api/tasks', { ...taskFields, agentId: agent.id }, 'key')
  const crowd = <T>(ask: () => Promise<T>) => Promise.all(Array.from({ length: 12 }, ask))
  // All connections are there.
  await crowd(create)
  const tell = async (url: string, ...statements: string[]) => {
    const client = new pg.Client(url)
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  await tell(pair.standby.url, 'SELECT pg_promote()')
  const locked = `ALTER SYSTEM SET default_transaction_read_only = on`
  await tell(pair.primary.url, `ALTER SYSTEM SET synchronous_standby_names = ''`, locked, 'SELECT pg_reload_conf()')
  // A server that tells a new connection so has told its others.
  await until('the old primary', async () => {
    const client = new pg.Client(pair.primary.url)
    await client.connect()
    const { rows } = await client.query('SHOW default_transaction_read_only')
    await client.end()
    return rows[0].default_transaction_read_only === 'on'
  })
  const first = await create()
  const others = await crowd(create)
  assert.equal([...new Set([first, ...others].map(({ status }) => status))], [201])
  const path = `/api/tasks/${first.data!.id}`
  const reads = await crowd(() => buyer.ask('GET', path, undefined, 'key'))
  assert.equal([...new Set(reads.map(({ status }) => status))], [200])
  assert.is((await fetch(`${marketplace.url}/readyz`)).status, 200)
  await marketplace.checkLedger()
})

test('a server that takes no writes any more is not ready, also for who is connected', async () => {
  const server = await startStoppable()
  await opened({ close: () => server.stop() })
  const db = await opened(await openPostgres({ url: server.url }))
  assert.is(await db.ready(), true)
  const other = new pg.Client(server.url)
  await other.connect()
  const lock = async (value: string) => {
    await other.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
    await other.query('SELECT pg_reload_conf()')
  }
  await lock('on')
  await until('no readiness', async () => !(await db.ready()))
  await lock('off')
  await until('readiness', () => db.ready())
  await other.end()
})

test.run()
