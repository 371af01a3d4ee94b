// engines: embedded, postgres at length; process: shared
/** Webhooks out: order, retries, signatures, fairness. Source: A-37. */
import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import { durations, retryAfterMaxMs, retryScheduleMs } from '../../../src/api/limits.ts'
import { verify } from '../../../src/api/signature.ts'
import { askedWaitMs } from '../../../src/market/webhooks/retry-policy.ts'
import { answered } from '../../../src/world/virtual.ts'
import type { OutgoingResult } from '../../../src/world/world.ts'
import { engine } from '../../support/databases.ts'
import { type ListedAgent, openTestMarketplace } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'
import { ticking } from '../../support/ticking.ts'
import { openBeforeEach, type State, states, submitted } from './dispatch-state.ts'

const test = suite<State>('dispatch')
openBeforeEach(test)

/** Lets time pass until the next attempt of the oldest pending delivery is due, and answers how long that was. */
async function toNextAttempt({ marketplace }: State): Promise<number> {
  const sql = `SELECT MIN(next_at) AS at FROM deliveries WHERE state = 'pending'`
  const next = await marketplace.market.db.read(q => q.get<{ at: number }>(sql))
  const wait = next!.at - marketplace.world.now()
  await marketplace.pass(wait)
  await marketplace.webhooksSent()
  return wait
}

test('an attempt that fails is tried again on the schedule, within 20 %, and the failure after its end is the last', async state => {
  const { marketplace, agent } = state
  agent.sink.status = 500
  await submitted(state)
  await marketplace.webhooksSent()
  for (const scheduled of retryScheduleMs) {
    const wait = await toNextAttempt(state)
    assert.ok(wait >= scheduled * 0.8 && wait <= scheduled * 1.2, `${wait} of ${scheduled}`)
  }
  assert.is(agent.sink.received.length, retryScheduleMs.length + 1)
  assert.equal(await states(state), ['failed'])
})

test('every attempt is signed afresh over the same body, under one delivery id', async state => {
  const { marketplace, agent } = state
  agent.sink.status = 503
  await submitted(state)
  await marketplace.webhooksSent()
  marketplace.world.tick(6_000)
  agent.sink.status = 200
  await toNextAttempt(state)
  const [first, second] = agent.sink.received
  assert.equal({ ...first, headers: null }, { ...second, headers: null })
  const of = (name: string) => [first!.headers[name], second!.headers[name]]
  assert.is(of('X-Service-Delivery-Id')[0], of('X-Service-Delivery-Id')[1])
  assert.equal(of('X-Service-Attempt'), ['1', '2'])
  assert.is.not(of('X-Service-Signature')[0], of('X-Service-Signature')[1])
  for (const { headers, ...body } of [first!, second!]) {
    const { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': signature } = headers
    const text = JSON.stringify(body)
    const verdict = verify({ secret: agent.secret, timestamp, signature, body: text, now: Number(timestamp) })
    assert.ok(verdict.ok)
    const key = Buffer.from(agent.secret.slice('whsec_'.length), 'base64')
    const message = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
    assert.is(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(message).digest('base64')}`)
  }
})

test('an attempt uses the URL and the secret of its moment', async state => {
  const { marketplace, agent } = state
  agent.sink.status = 500
  await submitted(state)
  await marketplace.webhooksSent()
  const { secret } = await agent.builder.call<{ secret: string }>('POST', `/api/my/agents/${agent.id}/webhook-secret`)
  const moved = marketplace.sink()
  await agent.builder.call('PUT', `/api/my/agents/${agent.id}`, { webhookUrl: moved.url })
  await toNextAttempt(state)
  assert.is(moved.received.length, 1)
  const { headers, ...body } = moved.received[0]!
  const { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': signature } = headers
  assert.ok(verify({ secret, timestamp, signature, body: JSON.stringify(body), now: Number(timestamp) }).ok)
})

test('a secret that was sealed under another key is told in the log, and tried again on the schedule', async state => {
  const { marketplace, agent } = state
  await marketplace.market.db.write(tx =>
    tx.run(`UPDATE agents SET secret = '00000000.a.b.c' WHERE id = $1`, [agent.id]),
  )
  const task = await submitted(state)
  await marketplace.webhooksSent()
  assert.is(agent.sink.received.length, 0)
  const { items } = await agent.builder.call<{ items: { id: string; taskId: string; status: string }[] }>(
    'GET',
    `/api/my/agents/${agent.id}/deliveries`,
  )
  const one = items.find(({ taskId }) => taskId === task.id)!
  const { attempts } = await agent.builder.call<{ attempts: { message: string }[] }>(
    'GET',
    `/api/my/agents/${agent.id}/deliveries/${one.id}`,
  )
  const messages = attempts.map(({ message }) => message)
  assert.equal(messages, ['This webhook secret was sealed under another key'])
  const wait = await toNextAttempt(state)
  assert.ok(wait > 0)
})

test('events of one task wait for each other; those of another task do not', async state => {
  const { marketplace, buyer, agent } = state
  agent.sink.status = 500
  const first = await submitted(state)
  await marketplace.webhooksSent()
  await buyer.call('POST', `/api/tasks/${first.id}/messages`, { content: 'Are you there?' })
  await buyer.call('POST', `/api/tasks/${first.id}/cancel`)
  const second = await submitted(state)
  await marketplace.webhooksSent()
  const seen = () => agent.sink.received.map(({ event, data }) => `${event} ${data.taskId === first.id ? 1 : 2}`)
  assert.equal(seen(), ['task.submitted 1', 'task.submitted 2'])
  assert.is(second.status, 'draft')
  agent.sink.received.length = 0
  agent.sink.status = 200
  await marketplace.pass(60_000)
  await marketplace.webhooksSent()
  assert.equal(
    seen().filter(line => line.endsWith('1')),
    ['task.submitted 1', 'task.message 1', 'task.cancelled 1'],
  )
})

test('204 and other 2xx end a delivery; a redirect does not; 410 ends this event alone', async state => {
  const { marketplace, buyer, agent } = state
  agent.sink.status = 204
  const task = await submitted(state)
  await marketplace.webhooksSent()
  assert.equal(await states(state), ['delivered'])
  agent.sink.status = 307
  await buyer.call('POST', `/api/tasks/${task.id}/messages`, { content: 'First' })
  await buyer.call('POST', `/api/tasks/${task.id}/messages`, { content: 'Second' })
  await marketplace.webhooksSent()
  assert.equal(await states(state), ['delivered', 'pending', 'waiting'])
  agent.sink.answer = () => {
    agent.sink.answer = null
    agent.sink.status = 200
    return answered(410)
  }
  await toNextAttempt(state)
  await marketplace.webhooksSent()
  assert.equal(await states(state), ['delivered', 'failed', 'delivered'])
})

test('Retry-After is honoured in seconds and as a date, up to ten hours', async state => {
  const { marketplace, agent } = state
  const realNow = Date.UTC(2026, 0, 1)
  assert.is(askedWaitMs('120', realNow), 120_000)
  assert.is(askedWaitMs('Thu, 01 Jan 2026 00:01:00 GMT', realNow), 60_000)
  assert.is(askedWaitMs('999999', realNow), retryAfterMaxMs)
  for (const senseless of ['-1', 'soon', '', '0', 'Thu, 01 Jan 2015 00:00:00 GMT'])
    assert.is(askedWaitMs(senseless, realNow), null, senseless)
  agent.sink.answer = () => answered(429, '', { 'retry-after': '3600' })
  await submitted(state)
  await marketplace.webhooksSent()
  assert.is(await toNextAttempt(state), durations.hourMs)
})

test('at most two are in flight to one host, whatever the number of agents behind it', async state => {
  const { marketplace } = state
  const builder = await marketplace.join('many')
  const agents: ListedAgent[] = []
  // A builder has no room for four connection tests at once.
  for (let listed = 0; listed < 4; listed++) agents.push(await marketplace.list(builder))
  let now = 0
  let most = 0
  const release: (() => void)[] = []
  for (const { sink } of agents) {
    sink.answer = () => {
      most = Math.max(most, ++now)
      return new Promise<OutgoingResult>(resolve =>
        release.push(() => {
          now--
          resolve(answered(200))
        }),
      )
    }
  }
  for (const agent of agents) await submitted(state, agent)
  const order: number[] = []
  while (order.length < agents.length) {
    await new Promise(resolve => setTimeout(resolve, 5))
    if (release.length > 0) order.push(now)
    release.shift()?.()
  }
  await marketplace.webhooksSent()
  assert.is(most, dispatch.perHost)
  for (const { sink } of agents) assert.is(sink.received.length, 1)
})

test('tasks submitted at the same moment wait for each other at their host, and for no clock', async state => {
  const { marketplace, buyer } = state
  const builder = await marketplace.join('moment')
  const agents = await Promise.all([1, 2, 3].map(() => marketplace.list(builder)))
  let now = 0
  let most = 0
  for (const { sink } of agents) {
    sink.answer = async () => {
      most = Math.max(most, ++now)
      await new Promise(resolve => setTimeout(resolve, 2))
      now--
      return answered(200)
    }
  }
  const tasks = await Promise.all(Array.from({ length: 12 }, (_, i) => marketplace.draft(buyer, agents[i % 3]!)))
  await Promise.all(tasks.map(({ id }) => buyer.call('POST', `/api/tasks/${id}/submit`)))
  await marketplace.webhooksSent()
  assert.is(most, dispatch.perHost)
  const sent = agents.flatMap(({ sink }) =>
    sink.received.map(({ data, headers }) => [data.taskId, headers['X-Service-Attempt']]),
  )
  assert.equal(sent.sort(), tasks.map(({ id }) => [id, '1']).sort())
})

test('what is due and what is submitted while it is taken up share the two slots of their host', async state => {
  const { marketplace, buyer } = state
  const builder = await marketplace.join('both')
  const agents = await Promise.all([1, 2].map(() => marketplace.list(builder)))
  let now = 0
  let most = 0
  for (const { sink } of agents) sink.status = 503
  const drafts = await Promise.all(Array.from({ length: 12 }, (_, i) => marketplace.draft(buyer, agents[i % 2]!)))
  const submit = (tasks: typeof drafts) =>
    Promise.all(tasks.map(({ id }) => buyer.call('POST', `/api/tasks/${id}/submit`)))
  await submit(drafts.slice(0, 6))
  await marketplace.webhooksSent()
  for (const { sink } of agents) {
    sink.received.length = 0
    sink.answer = async () => {
      most = Math.max(most, ++now)
      await new Promise(resolve => setTimeout(resolve, 2))
      now--
      return answered(200)
    }
  }
  marketplace.world.tick(10_000)
  await Promise.all([marketplace.pass(10_000), submit(drafts.slice(6))])
  await marketplace.webhooksSent()
  assert.is(most, dispatch.perHost)
  assert.is(
    agents.reduce((sum, { sink }) => sum + sink.received.length, 0),
    drafts.length,
  )
})

/** Six webhooks of one moment for a host that has not answered yet: two are in flight, the others wait. */
async function sixForOneHost() {
  const folder = await mkdtemp(join(tmpdir(), 'in-hand-'))
  // On a disk or a server, so that several are written before the first is known to be.
  const marketplace = await openTestMarketplace(engine === 'embedded' ? { file: join(folder, 'market.db') } : {})
  const agent = await marketplace.list(await marketplace.join('builder'))
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  agent.sink.answer = () => gate.then(() => answered(200))
  const buyers = await Promise.all([1, 2, 3, 4, 5, 6].map(n => marketplace.join(`buyer${n}`, 2_000)))
  const drafts = await Promise.all(buyers.map(async buyer => ({ buyer, task: await marketplace.draft(buyer, agent) })))
  await Promise.all(drafts.map(({ buyer, task }) => buyer.call('POST', `/api/tasks/${task.id}/submit`)))
  const received = async ({ received }: { received: unknown[] }, count: number) => {
    await until(`${count} webhooks`, () => received.length >= count)
    return received.length
  }
  await received(agent.sink, dispatch.perHost)
  const close = async () => {
    open()
    await marketplace.close()
    await rm(folder, { recursive: true })
  }
  return { marketplace, agent, open, received, close }
}

test('what waits in hand for a slot is sent with the secret and the address of its moment', async () => {
  const { marketplace, agent, open, close } = await sixForOneHost()
  const { secret } = await agent.builder.call<{ secret: string }>('POST', `/api/my/agents/${agent.id}/webhook-secret`)
  const moved = marketplace.sink()
  await agent.builder.call('PUT', `/api/my/agents/${agent.id}`, { webhookUrl: moved.url })
  open()
  await marketplace.webhooksSent()
  assert.equal([agent.sink.received.length, moved.received.length], [dispatch.perHost, 6 - dispatch.perHost])
  for (const { headers, ...body } of moved.received) {
    const { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': signature } = headers
    assert.ok(verify({ secret, timestamp, signature, body: JSON.stringify(body), now: Number(timestamp) }).ok)
    assert.is(headers['X-Service-Attempt'], '1')
  }
  await close()
})

// On a server the others may not be in hand: then they are found by the next look.
if (engine === 'embedded') {
  test('what waits in hand for a busy host goes to another address at once, whatever the clock says', async () => {
    const { marketplace, agent, received, close } = await sixForOneHost()
    const moved = marketplace.sink('moved.localhost')
    await agent.builder.call('PUT', `/api/my/agents/${agent.id}`, { webhookUrl: moved.url })
    assert.ok((await received(moved, 1)) > 0)
    await close()
  })
}

test('an address that changes while the queues are looked at is the one that is used', async state => {
  const { marketplace, agent } = state
  agent.sink.status = 503
  await submitted(state)
  await marketplace.webhooksSent()
  const moved = marketplace.sink()
  const { db } = marketplace.market
  const read = db.read.bind(db)
  let changed = false
  db.read = async work => {
    const seen = await read(work)
    // On a server a read finds the agent. On a file it claims the delivery as well.
    if (!changed && Array.isArray(seen) && seen.some(({ due, delivery }) => due === 1 || delivery)) {
      changed = true
      await agent.builder.call('PUT', `/api/my/agents/${agent.id}`, { webhookUrl: moved.url })
    }
    return seen
  }
  marketplace.world.tick(10_000)
  await marketplace.webhooksSent()
  assert.ok(changed)
  assert.equal([agent.sink.received.length, moved.received.length], [1, 1])
})

test('a burst for one slow host keeps nobody else from being sent to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'burst-'))
  const marketplace = await openTestMarketplace(engine === 'embedded' ? { file: join(folder, 'market.db') } : {})
  const builder = await marketplace.join('builder')
  const slow = await marketplace.list(builder, {}, marketplace.sink('slow.localhost'))
  const quick = await marketplace.list(builder, {}, marketplace.sink('quick.localhost'))
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  slow.sink.answer = () => gate.then(() => answered(200))
  const buyers = await Promise.all(Array.from({ length: 8 }, (_, n) => marketplace.join(`buyer${n}`, 20_000)))
  const drafts = await Promise.all(
    Array.from({ length: dispatch.overall + 16 }, async (_, n) => {
      const buyer = buyers[n % buyers.length]!
      return { buyer, task: await marketplace.draft(buyer, slow) }
    }),
  )
  const last = await marketplace.draft(buyers[0]!, quick)
  await Promise.all(drafts.map(({ buyer, task }) => buyer.call('POST', `/api/tasks/${task.id}/submit`)))
  await buyers[0]!.call('POST', `/api/tasks/${last.id}/submit`)
  await ticking(marketplace, 'the webhook to the quick one', () => quick.sink.received.length > 0)
  assert.equal([slow.sink.received.length, quick.sink.received.length], [dispatch.perHost, 1])
  open()
  await marketplace.webhooksSent()
  assert.is(slow.sink.received.length, drafts.length)
  await marketplace.close()
  await rm(folder, { recursive: true })
})

test('while a crowd of requests waits for the database two webhooks are in flight, and all of them as soon as it is gone', async state => {
  const { marketplace } = state
  const builder = await marketplace.join('hosts')
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  const agents: ListedAgent[] = []
  for (let i = 0; i < dispatch.besideCrowd + 4; i++) {
    const agent = await marketplace.list(builder, {}, marketplace.sink(`h${i}.localhost`))
    agent.sink.answer = () => gate.then(() => answered(200))
    agents.push(agent)
  }
  const inFlight = () => agents.filter(({ sink }) => sink.received.length === 1).length
  const reaches = (count: number) => until(`${count} in flight`, () => inFlight() >= count)
  let waiting = dispatch.crowd + 1
  Object.defineProperty(marketplace.market.db, 'waiting', { get: () => waiting })
  for (const agent of agents) await submitted(state, agent)
  await reaches(dispatch.besideCrowd)
  marketplace.world.tick(dispatch.slowAfterMs - 1)
  await submitted(state) // one more look at the queues, at least
  assert.is(inFlight(), dispatch.besideCrowd)
  waiting = dispatch.crowd
  marketplace.world.tick(1000)
  await reaches(agents.length)
  assert.is(inFlight(), agents.length)
  open()
  await marketplace.webhooksSent()
})

test('agents on one host take turns: nobody’s long queue keeps another waiting', async state => {
  const { marketplace, buyer } = state
  const builder = await marketplace.join('queues')
  const agents: ListedAgent[] = []
  for (let i = 0; i < 3; i++) agents.push(await marketplace.list(builder))
  const order: number[] = []
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  for (const [i, { sink }] of agents.entries()) {
    sink.answer = async () => {
      await gate
      order.push(i)
      return answered(200)
    }
  }
  for (let i = 0; i < 6; i++) await submitted(state, agents[0])
  for (const agent of agents.slice(1)) await submitted(state, agent)
  assert.ok(buyer.key)
  open()
  await marketplace.webhooksSent()
  assert.is(order.length, 8)
  assert.ok(Math.max(order.indexOf(1), order.indexOf(2)) <= 5, order.join())
})

test.run()
