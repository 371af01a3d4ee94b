// engines: embedded, postgres at length; process: shared
/** A move of the simulator's clock: what falls due on the way happens in order and at its own time. Source: A-44. */
import { request } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { clockMoves, durations, heartbeat, retryScheduleMs } from '../../../src/api/limits.ts'
import { signatureHeaders } from '../../../src/api/signature.ts'
import { Activity } from '../../../src/market/activity.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { insertMail } from '../../../src/store/tables/accounts/mails.ts'
import { answered } from '../../../src/world/virtual.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'

const HOUR = durations.hourMs

interface Due {
  at: string
  kind: string
  id: string
  about: string | null
}

interface Moved {
  now: string
  offsetMs: number
  done: Due[]
  omitted: number
  stopped: { reason: string; underWay: { kind: string; id: string }[] } | null
}

type Mover = (body: object) => Promise<Moved>

/** Entries of the log, each with the domain time at which it was written. */
async function open() {
  const log: (LogEntry & { at: number })[] = []
  let now = () => 0
  const marketplace = await openTestMarketplace({ log: entry => void log.push({ ...entry, at: now() }) })
  now = marketplace.world.now
  const move: Mover = body => marketplace.admin.call<Moved>('POST', '/api/dev/clock', body, 'key')
  return { marketplace, log, move }
}

async function approved(marketplace: TestMarketplace, buyer: TestUser, agent: ListedAgent): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.callback(agent, id, { action: 'deliver', content: 'x' })
  await buyer.call('POST', `/api/tasks/${id}/approve`)
  return id
}

/** The domain times of what fell due, of one kind. */
const times = (due: readonly Due[], kind: string) => due.flatMap(one => (one.kind === kind ? [Date.parse(one.at)] : []))

const rowsAt = async ({ market }: TestMarketplace, sql: string, id: string) =>
  (await market.db.read(q => q.all<{ at: number }>(sql, [id]))).map(({ at }) => at)

/** The second agent refuses its webhook three times. Tests of the connection pass all the same. */
async function refusedThrice({ market, draft }: TestMarketplace, buyer: TestUser, agent: ListedAgent): Promise<string> {
  let refusals = 3
  agent.sink.answer = () => answered(agent.sink.received.length > 0 && refusals-- > 0 ? 503 : 200)
  const { id } = await draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await market.settled()
  const sql = 'SELECT id FROM deliveries WHERE task_id = $1'
  return (await market.db.read(q => q.get<{ id: string }>(sql, [id])))!.id
}

/** Moves the clock from one moment to the next, and checks the books at each. */
async function moveByMoments({ world, checkLedger }: TestMarketplace, move: Mover, end: number): Promise<Due[]> {
  const done: Due[] = []
  for (;;) {
    const moved = await move({ advanceMs: end - world.now(), steps: 1 })
    done.push(...moved.done)
    await checkLedger()
    if (moved.stopped === null) break
    assert.equal(moved.stopped, { reason: 'steps', underWay: [] })
  }
  assert.is(world.now(), end)
  const order = done.map(({ at }) => at)
  assert.equal(order, [...order].sort())
  return done
}

test('48 hours with 50 agents: heartbeats, retries, a clearing and a mail, in order and each at its own time', async () => {
  const { marketplace, log, move } = await open()
  const { world, market } = marketplace
  const [builder, buyer] = [await marketplace.join('builder'), await marketplace.join('buyer', 500_000)]
  const agents: ListedAgent[] = []
  for (let n = 0; n < 50; n++) {
    agents.push(await marketplace.list(builder, {}, marketplace.sink(`agent${n}.localhost`)))
  }
  const start = world.now()
  const paid = await approved(marketplace, buyer, agents[0]!)
  await market.settled()
  const delivery = await refusedThrice(marketplace, buyer, agents[1]!)
  const mailAt = start + 7 * HOUR + 13
  await market.db.write(tx => insertMail(tx, { id: 'mail_later', kind: 'password_reset', about: buyer.email }, mailAt))

  const done = await moveByMoments(marketplace, move, start + 48 * HOUR)

  const { everyMs } = heartbeat
  const boundaries = Array.from({ length: 12 }, (_, n) => start - (start % everyMs) + (n + 1) * everyMs)
  assert.equal(times(done, 'heartbeat'), boundaries)
  const tested = log.filter(entry => entry.type === 'check' && entry.check === 1 && entry.at > start)
  assert.equal([...new Set(tested.map(({ at }) => at))], boundaries)
  assert.is(tested.length, 12 * heartbeat.batch)
  // Three runs test all.
  assert.equal(await rowsAt(marketplace, 'SELECT MIN(tested_at) AS at FROM agents WHERE id <> $1', ''), [
    boundaries[9]!,
  ])

  const attempts = await rowsAt(
    marketplace,
    'SELECT created_at AS at FROM attempts WHERE delivery_id = $1 ORDER BY attempt',
    delivery,
  )
  assert.is(attempts.length, 4)
  assert.equal(times(done, 'webhook'), attempts.slice(1))
  for (const [n, wait] of retryScheduleMs.slice(0, 3).entries()) {
    assert.ok(Math.abs(attempts[n + 1]! - attempts[n]! - wait) <= wait / 5, `attempt ${n + 2}`)
  }

  const cleared = 'SELECT MIN(created_at) AS at FROM entries WHERE leg_id = $1'
  assert.equal(await rowsAt(marketplace, cleared, `${paid}_cleared`), [start + durations.clearingMs])
  assert.equal(times(done, 'clearing'), [start + durations.clearingMs])
  const mails = log.flatMap(entry => (entry.type === 'mail' ? [entry.at] : []))
  assert.equal([mails, times(done, 'mail')], [[mailAt], [mailAt]])
  await marketplace.close()
})

test('one move does all of it; what it lists is bounded; old rows are deleted in full hours', async () => {
  const { marketplace, move } = await open()
  const { world, market } = marketplace
  await marketplace.list(await marketplace.join('builder'))
  await market.db.write(async tx => {
    for (let n = 0; n < clockMoves.listed + 5; n++) {
      await insertMail(tx, { id: `mail_${n}`, kind: 'password_reset', about: 'nobody@example.com' }, world.now() + HOUR)
    }
  })
  const moved = await move({ advanceMs: 9 * HOUR })
  assert.is(moved.stopped, null)
  assert.is(moved.done.length, clockMoves.listed)
  assert.is(moved.omitted, 5 + 2, 'five mails and two heartbeats')
  const month = await move({ advanceMs: 31 * durations.dayMs, jump: true })
  assert.equal([month.done, month.omitted, month.stopped], [[], 0, null])
  await marketplace.close()
})

test('what is still under way at the bound of a move ends it, by name, and the next move waits for it first', async () => {
  const { marketplace, move } = await open()
  const { world, market } = marketplace
  await marketplace.stopHeartbeat()
  const buyer = await marketplace.join('buyer', 500_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  let refused = false
  let answer = (_: ReturnType<typeof answered>) => {}
  agent.sink.answer = () => {
    if (refused) return new Promise(resolve => (answer = resolve))
    refused = true
    return answered(503)
  }
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await market.settled()
  const pending = move({ advanceMs: HOUR })
  while (agent.sink.received.length < 2) await new Promise(resolve => setImmediate(resolve))
  const at = world.now()
  world.tick(durations.clockMoveMs)
  const { done, stopped, now } = await pending
  assert.is(done.length, 1)
  assert.equal(stopped, { reason: 'under_way', underWay: [{ kind: 'webhook', id: done[0]!.id }] })
  assert.is(Date.parse(now), at, 'domain time stands still while the clock is moved')
  const after = move({ advanceMs: HOUR })
  answer(answered(200))
  assert.is((await after).stopped, null)
  assert.is(world.now(), at + HOUR)
  await marketplace.close()
})

test('settled: a webhook, the callback that it leads to, and what follows are over', async () => {
  const { marketplace } = await open()
  const buyer = await marketplace.join('buyer', 500_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  const calledBack: Promise<unknown>[] = []
  agent.sink.answer = async () => {
    calledBack.push(marketplace.callback(agent, id, { action: 'reject', reason: 'Not today' }))
    await new Promise(resolve => setTimeout(resolve, 20))
    return answered(200)
  }
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.market.settled()
  assert.is(calledBack.length, 1)
  const { status } = await buyer.call<{ status: string }>('GET', `/api/tasks/${id}`, undefined, 'key')
  assert.is(status, 'cancelled')
  const left = 'SELECT COUNT(*) AS at FROM deliveries WHERE ended_at IS NULL AND task_id = $1'
  assert.equal(await rowsAt(marketplace, left, id), [0])
  await marketplace.close()
})

test('settled: a callback that is being served is waited for', async () => {
  const { marketplace } = await open()
  const { market } = marketplace
  const agent = await marketplace.list(await marketplace.join('builder'))
  const body = JSON.stringify({ action: 'accept' })
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    ...signatureHeaders(agent.secret, marketplace.world.realNow(), body),
  }
  const callback = request(`${marketplace.url}/api/agent/tasks/task_none/callback`, { method: 'POST', headers })
  callback.write(body.slice(0, 5))
  const activity = market.memory.of(Activity)
  await until('the callback that is being served', () => !activity.isEmpty)
  assert.equal(activity.first(2), [{ kind: 'callback', id: 'task_none' }])
  let isSettled = false
  const settled = market.settled().then(() => {
    isSettled = true
  })
  for (let n = 0; n < 20; n++) await market.db.read(q => q.get('SELECT 1 AS one'))
  assert.not.ok(isSettled)
  callback.end(body.slice(5))
  await settled
  await marketplace.close()
})

test('an agent that never calls back holds a moved clock up for two seconds, not for fifteen', async () => {
  const { marketplace, log, move } = await open()
  const { world, market } = marketplace
  await marketplace.list(await marketplace.join('builder'))
  Object.assign(market.world.egress, { post: async () => answered(200) })
  const pending = move({ advanceMs: 4 * HOUR })
  const callback = () => log.find(entry => entry.type === 'check' && entry.check === 5 && entry.status === 'warning')
  while (!callback()) {
    world.tick(100)
    await new Promise(resolve => setTimeout(resolve, 10)) // for what the server does meanwhile
  }
  assert.is((await pending).stopped, null)
  assert.match(JSON.stringify(callback()), 'No callback arrived within 2 seconds"')
  await marketplace.close()
})

test.run()
