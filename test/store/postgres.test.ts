// engines: postgres; process: own
/** A crowd on few connections waits its turn; a Postgres that does not answer is noticed by who asks. */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../src/store/open.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { inTime, until } from '../support/patience.ts'
import { startStoppable } from '../support/postgres-server.ts'

/** Of the other engine. */
const neverUsed = { file: null, onFatal() {} }

const secretKey = randomBytes(32).toString('base64')

/** Keeps every writer of tasks waiting until it is called. */
async function holdTasks(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('BEGIN')
  await client.query('LOCK TABLE tasks IN EXCLUSIVE MODE')
  return () => client.end()
}

test('200 requests at once on 5 connections all succeed, though they wait longer than a connection may take', async () => {
  const { url, drop } = await freshDatabase()
  const marketplace = await openTestMarketplace({ postgres: { url, poolSize: 5 }, secretKey })
  const buyer = await marketplace.join('buyer')
  const agent = await marketplace.list(await marketplace.join('builder'))
  const release = await holdTasks(url)
  const asked = Array.from({ length: 200 }, () =>
    buyer.ask('POST', '/api/tasks', { ...taskFields, agentId: agent.id }, 'key'),
  )
  await wait(5_500)
  assert.is((await fetch(`${marketplace.url}/readyz`)).status, 200, 'a crowd does not hide that Postgres answers')
  await release()
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  assert.equal(new Set(statuses), new Set([201]))
  await marketplace.close(0)
  await drop()
})

test('who has waited too long for a connection is told to try again, in the envelope, with Retry-After', async () => {
  const { url, drop } = await freshDatabase()
  const marketplace = await openTestMarketplace({ postgres: { url, poolSize: 2, queueTimeoutMs: 2_000 }, secretKey })
  const buyer = await marketplace.join('buyer')
  const agent = await marketplace.list(await marketplace.join('builder'))
  const release = await holdTasks(url)
  const ask = () =>
    fetch(`${marketplace.url}/api/tasks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${buyer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...taskFields, agentId: agent.id }),
    })
  const asked = Array.from({ length: 6 }, ask)
  const refused: string[] = []
  for (const answer of asked)
    answer
      .then(assertRefused)
      .then(retryAfter => refused.push(retryAfter))
      .catch(() => {})
  await until('four refusals', () => refused.length === 4)
  for (const retryAfter of refused) assert.match(retryAfter, /^[1-9]\d*$/)
  await release()
  const statuses = (await Promise.all(asked)).map(({ status }) => status).sort()
  assert.equal(statuses, [201, 201, 500, 500, 500, 500])
  assert.is((await ask()).status, 201, 'and the next ones are served')
  await marketplace.close(0)
  await drop()
})

/** Returns when another try makes sense. */
async function assertRefused(answer: Response): Promise<string> {
  if (answer.status !== 500) throw new Error('served')
  const { success, error } = (await answer.clone().json()) as { success: boolean; error: string }
  assert.is(success, false)
  assert.match(error, /try again/)
  return answer.headers.get('retry-after') ?? ''
}

test('an idle connection that the server ends is told of, and the next statement has another', async () => {
  const { url, drop } = await freshDatabase()
  const warned: string[] = []
  const db = await openDatabase({ ...neverUsed, postgres: { url }, warn: message => warned.push(message) })
  const other = new pg.Client(url)
  await other.connect()
  await other.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await until('a warning', () => warned.length > 0)
  assert.match(warned[0]!, /^A connection to Postgres has ended: ./)
  assert.equal(await db.read(q => q.get('SELECT 1 AS one')), { one: 1 })
  await other.end()
  await db.close()
  await drop()
})

test('of a crowd that waits while Postgres goes away, the first finds that out for all', async () => {
  const server = await startStoppable()
  const db = await openPostgres({ url: server.url, poolSize: 1 })
  let [begun, end] = [() => {}, () => {}]
  const isHeld = new Promise<void>(resolve => {
    begun = resolve
  })
  const held = new Promise<void>(resolve => {
    end = resolve
  })
  const holds = db.read(async q => {
    await q.get('SELECT 1')
    begun()
    await held
  })
  await isHeld
  const asks = () => db.read(q => q.get('SELECT 1')).then(String, (error: Error) => error.message)
  const waits = Array.from({ length: 20 }, asks)
  await server.pause()
  end()
  await holds
  const [first, ...others] = await inTime('all answers', Promise.all(waits))
  assert.match(first!, /^(?:The connection to Postgres has ended|Postgres can't be reached): /)
  for (const other of others) assert.match(other, /^Postgres can't be reached: /)
  await server.resume()
  const asked = () => db.read(q => q.get('SELECT 1 AS one')).catch(() => null)
  await until('an answer again', async () => (await asked()) !== null)
  await db.close()
  await server.stop()
})

test('readyz says 503 while Postgres is away, to all who ask at once, and 200 again when it is back', async () => {
  const server = await startStoppable()
  const marketplace = await openTestMarketplace({ postgres: { url: server.url, poolSize: 2 }, secretKey })
  const ready = async () => {
    const answer = await fetch(`${marketplace.url}/readyz`)
    return { status: answer.status, text: await answer.text() }
  }
  assert.equal(await ready(), { status: 200, text: 'ok' })
  for (const _ of [1, 2]) {
    await server.pause()
    await until('503', async () => (await ready()).status === 503)
    const answers = await Promise.all(Array.from({ length: 50 }, ready))
    for (const answer of answers) assert.equal(answer, { status: 503, text: 'the database takes no work' })
    assert.is((await fetch(`${marketplace.url}/healthz`)).status, 200)
    await server.resume()
    await until('200 again', async () => (await ready()).status === 200)
  }
  await marketplace.close(0)
  await server.stop()
})

test('readyz says 503 of a Postgres that takes connections and says nothing, within its limit', async () => {
  const server = await startStoppable()
  const marketplace = await openTestMarketplace({ postgres: { url: server.url, poolSize: 2 }, secretKey })
  server.freeze()
  await until('503', async () => (await inTime('an answer', fetch(`${marketplace.url}/readyz`))).status === 503)
  server.thaw()
  await until('200 again', async () => (await fetch(`${marketplace.url}/readyz`)).status === 200)
  await marketplace.close(0)
  await server.stop()
})

test.run()
