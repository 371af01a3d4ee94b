// engines: embedded, postgres and narrow at length; process: shared
/** The log of webhooks over the wire: what was sent, what came back, and sending it again. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { DeliveryDetails, DeliveryRecord } from '../../../src/api/records.ts'
import { MarketplaceError } from '../../../src/client/typed-client.ts'
import { answered } from '../../../src/world/virtual.ts'
import type { List } from '../../support/lists.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'

const log = (agent: { id: string }, rest = '') => `/api/my/agents/${agent.id}/deliveries${rest}`
const listed = async ({ id, builder }: ListedAgent, query = '') =>
  (await builder.call<List<DeliveryRecord>>('GET', log({ id }, query), undefined, 'key')).items
const details = ({ id, builder }: ListedAgent, delivery: { id: string }) =>
  builder.call<DeliveryDetails>('GET', log({ id }, `/${delivery.id}`))
const again = ({ id, builder }: ListedAgent, delivery: { id: string }) =>
  builder.call<DeliveryRecord>('POST', log({ id }, `/${delivery.id}/redeliver`))

const TITLE = 'A task of a test'

async function submitted(marketplace: TestMarketplace): Promise<{ agent: ListedAgent; taskId: string; path: string }> {
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id: taskId } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${taskId}/submit`)
  await buyer.call('POST', `/api/tasks/${taskId}/messages`, { content: 'Hello?' })
  return { agent, taskId, path: `/api/tasks/${taskId}` }
}

test('each webhook is in the log, newest first, with its request, its answer and its attempts', async () => {
  const marketplace = await openTestMarketplace()
  const { agent, taskId } = await submitted(marketplace)
  await marketplace.webhooksSent()
  const items = await listed(agent)
  assert.equal(
    items.map(({ event, status, attemptCount }) => [event, status, attemptCount]),
    [
      ['task.message', 'delivered', 1],
      ['task.submitted', 'delivered', 1],
    ],
  )
  assert.equal(await listed(agent, '?limit=1&page=2'), [items[1]])
  const { request, answer, attempts, ...rest } = await details(agent, items[1]!)
  const { attempts: marks, ...item } = items[1]!
  assert.equal(rest, item)
  const at = '2026-01-01T00:00:00.000Z'
  const { id } = rest
  assert.equal(rest, {
    ...{ id, agentId: agent.id, taskId, event: 'task.submitted', status: 'delivered', attemptCount: 1 },
    ...{ agent: { id: agent.id, slug: 'test-writer', name: 'Test Writer' }, task: { id: taskId, title: TITLE } },
    ...{ redeliveryOf: null, resentAs: null, createdAt: at, nextAttemptAt: null, endedAt: at, diagnosis: null },
  })
  assert.equal(marks, [{ attempt: 1, status: 200, reason: null, durationMs: 0, createdAt: at }])
  const [received] = agent.sink.received
  assert.equal([request.method, request.url], ['POST', agent.sink.url])
  assert.is(request.headers['X-Service-Delivery-Id'], received!.headers['X-Service-Delivery-Id'])
  const { headers: _, ...sent } = received!
  assert.equal(JSON.parse(request.body!), sent)
  assert.equal(answer, { status: 200, body: '' })
  const { items: exchanges } = await marketplace.admin.client.listExchanges({ deliveryId: id })
  assert.is(exchanges.length, 1)
  assert.equal(attempts, [
    {
      exchangeId: exchanges[0]!.id,
      ...{ attempt: 1, url: agent.sink.url, status: 200, reason: null, message: 'The agent answered 200' },
      ...{ answer: '', location: null, durationMs: 0, createdAt: at },
    },
  ])
  assert.not.match(JSON.stringify(await details(agent, rest)), agent.secret)
  await marketplace.close()
})

test('an attempt counts when what came of it is known', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  let answer = () => {}
  agent.sink.answer = () => new Promise(resolve => (answer = () => resolve(answered(200))))
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await until('the webhook', () => agent.sink.received.length > 0)
  const [sending] = await listed(agent)
  assert.equal([sending!.status, sending!.attemptCount], ['pending', 0])
  answer()
  await marketplace.webhooksSent()
  const [sent] = await listed(agent)
  assert.equal([sent!.status, sent!.attemptCount], ['delivered', 1])
  await marketplace.close()
})

test('a failed attempt says why, and when the next one follows; what waits behind it says so', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  const failure = { ok: false, reason: 'refused', message: 'Nobody listens.', durationMs: 3 } as const
  agent.sink.answer = () => failure
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await buyer.call('POST', `/api/tasks/${id}/messages`, { content: 'Hello?' })
  await marketplace.webhooksSent()
  const [waiting, pending] = await listed(agent)
  assert.equal([waiting!.status, waiting!.attemptCount, waiting!.nextAttemptAt], ['waiting', 0, null])
  assert.equal([pending!.status, pending!.attemptCount, pending!.endedAt], ['pending', 1, null])
  assert.ok(Date.parse(pending!.nextAttemptAt!) > marketplace.world.now())
  const first = await details(agent, pending!)
  assert.is(first.answer, null)
  const [attempt] = first.attempts
  assert.equal([attempt!.status, attempt!.reason, attempt!.message], [null, 'refused', 'Nobody listens.'])
  agent.sink.answer = () => answered(503, 'come back later')
  await marketplace.pass(10_000)
  await marketplace.webhooksSent()
  const second = await details(agent, pending!)
  assert.equal(second.answer, { status: 503, body: 'come back later' })
  assert.equal(
    second.attempts.map(({ attempt: n, status }) => [n, status]),
    [
      [1, null],
      [2, 503],
    ],
  )
  agent.sink.answer = () => answered(410)
  await marketplace.pass(600_000)
  await marketplace.webhooksSent()
  assert.is((await details(agent, pending!)).status, 'failed')
  await marketplace.close()
})

test('redeliver: a new delivery with the same body, signed afresh, under an id of its own', async () => {
  const marketplace = await openTestMarketplace()
  const { agent } = await submitted(marketplace)
  await marketplace.webhooksSent()
  const original = (await listed(agent))[1]!
  const answer = await agent.builder.ask<DeliveryRecord>('POST', log(agent, `/${original.id}/redeliver`), {}, 'key')
  assert.is(answer.status, 200)
  const repeat = answer.data!
  assert.equal([repeat.event, repeat.redeliveryOf], ['task.submitted', original.id])
  assert.is.not(repeat.id, original.id)
  await marketplace.webhooksSent()
  assert.is(agent.sink.received.length, 3)
  const { headers, ...body } = agent.sink.received[2]!
  const { headers: before, ...same } = agent.sink.received[0]!
  assert.equal(body, same)
  assert.equal([headers['X-Service-Delivery-Id'], headers['X-Service-Attempt']], [repeat.id, '1'])
  assert.is.not(headers['X-Service-Delivery-Id'], before['X-Service-Delivery-Id'])
  assert.is((await details(agent, repeat)).status, 'delivered')
  assert.equal((await details(agent, original)).attempts.length, 1)
  await marketplace.close()
})

test('redeliver: what is tried again is not waited for; the order of the task stays', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  agent.sink.status = 500
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.webhooksSent()
  await buyer.call('POST', `/api/tasks/${id}/messages`, { content: 'Hello?' })
  agent.sink.status = 200
  agent.sink.received.length = 0
  const [message, pending] = await listed(agent)
  const repeat = await again(agent, message!)
  assert.is(repeat.status, 'waiting')
  // No time has passed, yet the first goes out at once, and the others behind it.
  while ((await details(agent, repeat)).status !== 'delivered') await new Promise(resolve => setTimeout(resolve, 5))
  assert.equal(
    agent.sink.received.map(({ headers }) => headers['X-Service-Delivery-Id']),
    [pending!.id, message!.id, repeat.id],
  )
  await marketplace.close()
})

test('the log is the builder’s alone: someone else’s agent is 403, another agent’s delivery 404', async () => {
  const marketplace = await openTestMarketplace()
  const { agent } = await submitted(marketplace)
  await marketplace.webhooksSent()
  const [delivery] = await listed(agent)
  const other = await marketplace.join('other')
  const foreign = await marketplace.list(other)
  const second = await marketplace.list(agent.builder)
  for (const [method, rest] of [
    ['GET', ''],
    ['GET', `/${delivery!.id}`],
    ['POST', `/${delivery!.id}/redeliver`],
  ] as const) {
    assert.is((await marketplace.visitor.ask(method, log(agent, rest))).status, 401)
    assert.is((await other.ask(method, log(agent, rest))).status, 403)
    assert.is((await agent.builder.ask(method, log({ id: 'agt_none' }, rest))).status, 404)
    if (rest === '') continue
    assert.is((await other.ask(method, log(foreign, rest))).status, 404)
    assert.is((await agent.builder.ask(method, log(second, rest))).status, 404)
  }
  assert.equal(agent.sink.received.length, 2)
  await marketplace.close()
})

/** Two agents of one builder: the first has one that failed and one that was delivered, the second one that failed. */
async function twoAgents() {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 50_000)
  const builder = await marketplace.join('builder')
  const [first, second] = [await marketplace.list(builder), await marketplace.list(builder, { name: 'Another' })]
  const submit = async (agent: ListedAgent, status: number) => {
    agent.sink.status = status
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.client.submitTask({ id })
    await marketplace.webhooksSent()
    await marketplace.pass(60_000)
    return id
  }
  const tasks = [await submit(first, 410), await submit(second, 410), await submit(first, 200)] as const
  return { marketplace, builder, first, second, tasks, submit }
}

test('the log of all own agents has what each filter leaves, and counts by state', async () => {
  const { marketplace, builder, first, second, tasks } = await twoAgents()
  const [failed, other, fine] = tasks
  const { client } = builder
  const found = async (query: object) => (await client.listMyDeliveries(query)).items.map(({ taskId }) => taskId)
  assert.equal(await found({}), [fine, other, failed])
  assert.equal(await found({ limit: 1, page: 2 }), [other])
  assert.equal(await found({ status: 'failed' }), [other, failed])
  assert.equal(await found({ agent: 'test-writer' }), [fine, failed])
  assert.equal(await found({ agent: second.id, status: 'delivered' }), [])
  assert.equal(await found({ taskId: other }), [other])
  assert.equal(await found({ event: 'task.message' }), [])
  assert.equal(await found({ q: failed }), [failed])
  assert.equal(await found({ q: TITLE.slice(1).toUpperCase() }), [fine, other, failed])
  const { items } = await client.listMyDeliveries({ taskId: fine })
  assert.equal(await found({ since: items[0]!.createdAt }), [fine])
  const listedOf = await client.listDeliveries({ id: first.id, status: 'failed' })
  assert.equal(
    listedOf.items.map(({ taskId, attempts }) => [taskId, attempts.map(({ status }) => status)]),
    [[failed, [410]]],
  )
  assert.is(listedOf.pagination.total, 1)
  assert.equal(await client.countMyDeliveries(), { waiting: 0, pending: 0, delivered: 1, failed: 2 })
  assert.equal(await client.countMyDeliveries({ agent: 'another' }), {
    waiting: 0,
    pending: 0,
    delivered: 0,
    failed: 1,
  })
  assert.equal(await client.countMyDeliveries({ taskId: fine }), { waiting: 0, pending: 0, delivered: 1, failed: 0 })
  const stranger = await marketplace.join('stranger')
  await marketplace.list(stranger)
  assert.equal((await stranger.client.listMyDeliveries()).items, [])
  assert.is((await builder.ask('GET', `/api/my/deliveries?agent=test-writer-2`)).status, 403)
  assert.is((await builder.ask('GET', '/api/my/deliveries?agent=nobody')).status, 404)
  assert.is((await builder.ask('GET', '/api/my/deliveries?since=yesterday')).status, 400)
  await marketplace.close()
})

test('all that failed are sent again with one request, each once, and the answer names the new ones', async () => {
  const { marketplace, builder, first, second, tasks, submit } = await twoAgents()
  first.sink.status = 200
  second.sink.status = 200
  const foreign = await marketplace.list(await marketplace.join('stranger'))
  const theirs = await submit(foreign, 410)
  const { items, more } = await builder.client.resendDeliveries({ failed: {} })
  assert.equal(
    items.map(({ delivery, refused }) => [delivery!.taskId, refused]),
    [tasks[0], tasks[1]].map(id => [id, null]),
  )
  assert.is(more, false)
  await marketplace.webhooksSent()
  for (const { of, delivery } of items) {
    const details = await builder.client.getDelivery({ id: delivery!.agentId, deliveryId: delivery!.id })
    assert.equal([details.status, details.redeliveryOf], ['delivered', of])
    const before = await builder.client.getDelivery({ id: delivery!.agentId, deliveryId: of })
    assert.is(before.resentAs, delivery!.id)
  }
  assert.equal((await builder.client.resendDeliveries({ failed: {} })).items, [])

  // By id, as often as is wanted; those of others are not there.
  const again = await builder.client.resendDeliveries({ ids: [items[1]!.of] })
  assert.equal(
    again.items.map(({ of }) => of),
    [items[1]!.of],
  )
  const [strange] = (await foreign.builder.client.listMyDeliveries()).items
  assert.is(strange!.taskId, theirs)
  const refused = await builder.client.resendDeliveries({ ids: [items[0]!.of, strange!.id] }).catch(error => error)
  assert.ok(refused instanceof MarketplaceError && refused.status === 404)
  await marketplace.webhooksSent()
  assert.is(first.sink.received.filter(({ data }) => data.taskId === tasks[0]).length, 2)
  assert.is((await builder.ask('POST', '/api/my/deliveries/resend', {})).status, 400)
  assert.is((await builder.ask('POST', '/api/my/deliveries/resend', { ids: ['x'], failed: {} })).status, 400)
  await marketplace.close()
})

test('what can not be sent again says why, and the others are sent', async () => {
  const { marketplace, builder, first, second } = await twoAgents()
  first.sink.status = 200
  second.sink.status = 200
  const [gone] = (await builder.client.listMyDeliveries({ agent: first.id, status: 'failed' })).items
  await marketplace.market.db.write(tx => tx.run(`UPDATE deliveries SET body = '' WHERE id = $1`, [gone!.id]))
  const { items } = await builder.client.resendDeliveries({ failed: {} })
  assert.equal(
    items.map(({ of, delivery }) => [of === gone!.id, delivery === null]),
    [
      [true, true],
      [false, false],
    ],
  )
  assert.match(items[0]!.refused!, 'kept for 30 days')
  await marketplace.close()
})

test.run()
