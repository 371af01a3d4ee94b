// engines: embedded, postgres; process: shared
/** What time and finished work do to the public list: freshness to the millisecond, ratings, and who comes first. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AgentRecord, OwnAgentRecord } from '../../src/api/records.ts'
import { type House, type ListedAgent, type Member, openHouse } from '../support/marketplace.ts'

const hour = 3_600_000

const listed = async (house: House, query = '') =>
  (await house.visitor.call<{ items: AgentRecord[] }>('GET', `/api/agents${query}`)).items

test('freshness: green below 20 hours since the last pass, amber to 24, red and hidden above', async () => {
  const house = await openHouse()
  await house.stopHeartbeat()
  const agent = await house.list(await house.join('builder'))
  const seen = async () => {
    const own = await agent.builder.call<OwnAgentRecord>('GET', `/api/my/agents/${agent.id}`)
    const open = await house.visitor.ask<AgentRecord>('GET', `/api/agents/${agent.id}`)
    const items = await listed(house)
    const shown = open.status === 200
    assert.equal([own.visible, items.length], [shown, shown ? 1 : 0])
    if (shown) assert.equal([open.data?.freshness, items[0]?.freshness], [own.freshness, own.freshness])
    return `${own.freshness} ${open.status}`
  }
  assert.is(await seen(), 'green 200')
  await house.pass(20 * hour - 1)
  assert.is(await seen(), 'green 200')
  await house.pass(1)
  assert.is(await seen(), 'amber 200')
  await house.pass(4 * hour)
  assert.is(await seen(), 'amber 200')
  await house.pass(1)
  assert.is(await seen(), 'red 404')
  await house.freshen(agent)
  assert.is(await seen(), 'green 200')
  const { lastCheckPassedAt } = (await listed(house))[0]!
  assert.is(lastCheckPassedAt, '2026-01-02T00:00:00.001Z')
  await house.close()
})

/** A task that its buyer approves, and rates if there is something to say. */
async function complete(house: House, buyer: Member, agent: ListedAgent, rating?: number): Promise<string> {
  const { id } = await house.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await house.callback(agent, id, { action: 'accept' })
  await house.callback(agent, id, { action: 'deliver', content: 'Done.' })
  await buyer.call('POST', `/api/tasks/${id}/approve`)
  if (rating) await buyer.call('POST', `/api/tasks/${id}/review`, { rating })
  return id
}

test('popular: by completed tasks, the newest first among equals; one’s own and refunded ones count for nothing', async () => {
  const house = await openHouse()
  const buyer = await house.join('buyer', 20_000)
  const builder = await house.join('builder', 10_000)
  const agents = [await house.list(builder), await house.list(builder), await house.list(builder)]
  const [a, b, c] = agents as [ListedAgent, ListedAgent, ListedAgent]
  const order = async (query = '') =>
    (await listed(house, query))
      .map(({ id, completedTasks }) => `${'abc'[agents.findIndex(agent => agent.id === id)]}${completedTasks}`)
      .join(' ')
  assert.is(await order(), 'c0 b0 a0')
  await complete(house, buyer, a)
  assert.is(await order(), 'a1 c0 b0')
  await complete(house, buyer, b)
  const refunded = await complete(house, buyer, b)
  assert.is(await order('?sort=popular'), 'b2 a1 c0')
  for (const _ of [1, 2, 3]) await complete(house, builder, c)
  assert.is(await order(), 'b2 a1 c0')
  await buyer.call('POST', `/api/tasks/${refunded}/dispute`, { reason: 'This is not what was asked for.' })
  await house.admin.call('POST', `/api/admin/tasks/${refunded}/resolve`, { outcome: 'refund' })
  assert.is(await order(), 'b1 a1 c0')
  assert.is(await order('?sort=newest'), 'c0 b1 a1')
  await house.close()
})

test('rating: the average of the buyers’ reviews to two digits, null without one; one’s own say nothing', async () => {
  const house = await openHouse()
  const buyer = await house.join('buyer', 20_000)
  const agent = await house.list(await house.join('builder', 10_000))
  const rating = async () => (await house.visitor.call<AgentRecord>('GET', `/api/agents/${agent.id}`)).rating
  assert.equal(await rating(), { average: null, count: 0 })
  await complete(house, agent.builder, agent, 1)
  await complete(house, buyer, agent)
  assert.equal(await rating(), { average: null, count: 0 })
  await complete(house, buyer, agent, 5)
  await complete(house, buyer, agent, 4)
  const last = await complete(house, buyer, agent, 5)
  assert.equal(await rating(), { average: 4.67, count: 3 })
  await buyer.call('POST', `/api/tasks/${last}/dispute`, { reason: 'This is not what was asked for.' })
  await house.admin.call('POST', `/api/admin/tasks/${last}/resolve`, { outcome: 'refund' })
  assert.equal(await rating(), { average: 4.5, count: 2 })
  await house.close()
})

test.run()
