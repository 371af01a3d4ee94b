// engines: embedded, postgres at length; process: shared
/** What time and finished work do to the public list: freshness to the millisecond, ratings, and who comes first. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AgentRecord, OwnAgentRecord } from '../../../src/api/records.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const hour = 3_600_000

const listed = async (marketplace: TestMarketplace, query = '') =>
  (await marketplace.visitor.call<{ items: AgentRecord[] }>('GET', `/api/agents${query}`)).items

test('freshness: green below 20 hours since the last pass, amber to 24, red and hidden above', async () => {
  const marketplace = await openTestMarketplace()
  await marketplace.stopHeartbeat()
  const agent = await marketplace.list(await marketplace.join('builder'))
  const seen = async () => {
    const own = await agent.builder.call<OwnAgentRecord>('GET', `/api/my/agents/${agent.id}`)
    const open = await marketplace.visitor.ask<AgentRecord>('GET', `/api/agents/${agent.id}`)
    const items = await listed(marketplace)
    const shown = open.status === 200
    assert.equal([own.visible, items.length], [shown, shown ? 1 : 0])
    if (shown) assert.equal([open.data?.freshness, items[0]?.freshness], [own.freshness, own.freshness])
    return `${own.freshness} ${open.status}`
  }
  assert.is(await seen(), 'green 200')
  await marketplace.pass(20 * hour - 1)
  assert.is(await seen(), 'green 200')
  await marketplace.pass(1)
  assert.is(await seen(), 'amber 200')
  await marketplace.pass(4 * hour)
  assert.is(await seen(), 'amber 200')
  await marketplace.pass(1)
  assert.is(await seen(), 'red 404')
  await marketplace.freshen(agent)
  assert.is(await seen(), 'green 200')
  const { lastCheckPassedAt } = (await listed(marketplace))[0]!
  assert.is(lastCheckPassedAt, '2026-01-02T00:00:00.001Z')
  await marketplace.close()
})

/** A task that its buyer approves, and rates if there is something to say. */
async function complete(
  marketplace: TestMarketplace,
  buyer: TestUser,
  agent: ListedAgent,
  rating?: number,
): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.callback(agent, id, { action: 'deliver', content: 'Done.' })
  await buyer.call('POST', `/api/tasks/${id}/approve`)
  if (rating) await buyer.call('POST', `/api/tasks/${id}/review`, { rating })
  return id
}

test('popular: by completed tasks, the newest first among equals; one’s own and refunded ones count for nothing', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 20_000)
  const builder = await marketplace.join('builder', 10_000)
  const agents = [await marketplace.list(builder), await marketplace.list(builder), await marketplace.list(builder)]
  const [a, b, c] = agents as [ListedAgent, ListedAgent, ListedAgent]
  const order = async (query = '') =>
    (await listed(marketplace, query))
      .map(({ id, completedTasks }) => `${'abc'[agents.findIndex(agent => agent.id === id)]}${completedTasks}`)
      .join(' ')
  assert.is(await order(), 'c0 b0 a0')
  await complete(marketplace, buyer, a)
  assert.is(await order(), 'a1 c0 b0')
  await complete(marketplace, buyer, b)
  const refunded = await complete(marketplace, buyer, b)
  assert.is(await order('?sort=popular'), 'b2 a1 c0')
  for (const _ of [1, 2, 3]) await complete(marketplace, builder, c)
  assert.is(await order(), 'b2 a1 c0')
  await buyer.call('POST', `/api/tasks/${refunded}/dispute`, { reason: 'This is not what was asked for.' })
  await marketplace.admin.call('POST', `/api/admin/tasks/${refunded}/resolve`, { outcome: 'refund' })
  assert.is(await order(), 'b1 a1 c0')
  assert.is(await order('?sort=newest'), 'c0 b1 a1')
  await marketplace.close()
})

test('rating: the average of the buyers’ reviews to two digits, null without one; one’s own say nothing', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 20_000)
  const agent = await marketplace.list(await marketplace.join('builder', 10_000))
  const rating = async () => (await marketplace.visitor.call<AgentRecord>('GET', `/api/agents/${agent.id}`)).rating
  assert.equal(await rating(), { average: null, count: 0 })
  await complete(marketplace, agent.builder, agent, 1)
  await complete(marketplace, buyer, agent)
  assert.equal(await rating(), { average: null, count: 0 })
  await complete(marketplace, buyer, agent, 5)
  await complete(marketplace, buyer, agent, 4)
  const last = await complete(marketplace, buyer, agent, 5)
  assert.equal(await rating(), { average: 4.67, count: 3 })
  await buyer.call('POST', `/api/tasks/${last}/dispute`, { reason: 'This is not what was asked for.' })
  await marketplace.admin.call('POST', `/api/admin/tasks/${last}/resolve`, { outcome: 'refund' })
  assert.equal(await rating(), { average: 4.5, count: 2 })
  await marketplace.close()
})

test.run()
