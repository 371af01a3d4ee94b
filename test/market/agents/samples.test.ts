// engines: embedded, postgres at length; process: shared
/** Samples and public reviews over the wire. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AgentRecord, AgentReviewRecord, SampleRecord } from '../../../src/api/records.ts'
import type { List } from '../../support/lists.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const mine = ({ id }: { id: string }, rest = '') => `/api/my/agents/${id}/samples${rest}`
const fields = { title: 'A poem', input: 'About the sea.', output: 'The sea is wide.' }

test('samples: added by the builder with 201, listed for everyone, deleted', async () => {
  const marketplace = await openTestMarketplace()
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { builder } = agent
  const answer = await builder.ask<SampleRecord>('POST', mine(agent), fields, 'key')
  assert.is(answer.status, 201)
  const made = answer.data!
  assert.equal(made, { id: made.id, agentId: agent.id, ...fields, createdAt: '2026-01-01T00:00:00.000Z' })
  const plain = await builder.call<SampleRecord>('POST', mine(agent), { title: 'No', output: 'x' })
  assert.is(plain.input, null)
  const listed = await marketplace.visitor.call<List<SampleRecord>>('GET', `/api/agents/${agent.id}/samples`)
  assert.equal(listed.items, [made, plain])
  const { slug } = await marketplace.visitor.call<AgentRecord>('GET', `/api/agents/${agent.id}`)
  const second = await marketplace.visitor.call<List<SampleRecord>>('GET', `/api/agents/${slug}/samples?limit=1&page=2`)
  assert.equal([second.items, second.pagination.total], [[plain], 2])
  assert.equal((await builder.call<List<SampleRecord>>('GET', mine(agent))).items, [made, plain])
  assert.equal(await builder.call('DELETE', mine(agent, `/${made.id}`)), { id: made.id })
  assert.is((await builder.ask('DELETE', mine(agent, `/${made.id}`))).status, 404)
  assert.equal((await builder.call<List<SampleRecord>>('GET', mine(agent))).items, [plain])
  await marketplace.close()
})

test('samples: each field has its limits, in code points', async () => {
  const marketplace = await openTestMarketplace()
  const agent = await marketplace.list(await marketplace.join('builder'))
  const cases: readonly (readonly [object, string | null])[] = [
    [{ title: 'a' }, 'title'],
    [{ title: '🙂🙂' }, null],
    [{ title: '🙂'.repeat(200) }, null],
    [{ title: 'a'.repeat(201) }, 'title'],
    [{ title: undefined }, 'title'],
    [{ title: '  ' }, 'title'],
    [{ input: '' }, null],
    [{ input: 'a'.repeat(5_000) }, null],
    [{ input: 'a'.repeat(5_001) }, 'input'],
    [{ output: '' }, 'output'],
    [{ output: 'a'.repeat(50_000) }, null],
    [{ output: 'a'.repeat(50_001) }, 'output'],
  ]
  for (const [change, fault] of cases) {
    const { status, data, errors } = await agent.builder.ask<SampleRecord>('POST', mine(agent), {
      ...fields,
      ...change,
    })
    assert.equal(
      [status, Object.keys(errors ?? {})],
      fault ? [400, [fault]] : [201, []],
      JSON.stringify(change).slice(0, 40),
    )
    if (data) await agent.builder.call('DELETE', mine(agent, `/${data.id}`))
  }
  await marketplace.close()
})

test('samples: an eleventh is refused with 400, also among 20 at once', async () => {
  const marketplace = await openTestMarketplace()
  const agent = await marketplace.list(await marketplace.join('builder'))
  const all = await Promise.all(Array.from({ length: 20 }, () => agent.builder.ask('POST', mine(agent), fields, 'key')))
  assert.equal(all.map(({ status }) => status).sort(), [...Array(10).fill(201), ...Array(10).fill(400)])
  const { items, pagination } = await agent.builder.call<List<SampleRecord>>('GET', mine(agent))
  assert.equal([items.length, pagination.total], [10, 10])
  await agent.builder.call('DELETE', mine(agent, `/${items[3]!.id}`))
  assert.is((await agent.builder.ask('POST', mine(agent), fields)).status, 201)
  await marketplace.close()
})

test('samples: someone else’s agent is 403, one that is not public 404 to all but its builder', async () => {
  const marketplace = await openTestMarketplace()
  const agent = await marketplace.list(await marketplace.join('builder'))
  const other = await marketplace.join('other')
  const foreign = await marketplace.list(other)
  const made = await agent.builder.call<SampleRecord>('POST', mine(agent), fields)
  for (const [method, path] of [
    ['GET', mine(agent)],
    ['POST', mine(agent)],
    ['DELETE', mine(agent, `/${made.id}`)],
  ] as const) {
    assert.is((await other.ask(method, path, method === 'POST' ? fields : undefined)).status, 403)
    assert.is((await marketplace.visitor.ask(method, path, method === 'POST' ? fields : undefined)).status, 401)
  }
  assert.is((await other.ask('DELETE', mine(foreign, `/${made.id}`))).status, 404)
  await agent.builder.call('POST', `/api/my/agents/${agent.id}/deactivate`)
  for (const what of ['samples', 'reviews']) {
    const path = `/api/agents/${agent.id}/${what}`
    assert.is((await marketplace.visitor.ask('GET', path)).status, 404)
    assert.is((await other.ask('GET', path, undefined, 'key')).status, 404)
    assert.is((await agent.builder.ask('GET', path, undefined, 'key')).status, 200)
    assert.is((await marketplace.visitor.ask('GET', `/api/agents/agt_none/${what}`)).status, 404)
  }
  await marketplace.close()
})

/** A task from draft to its review. */
async function reviewed(
  marketplace: TestMarketplace,
  buyer: TestUser,
  agent: ListedAgent,
  rating: number,
): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.callback(agent, id, { action: 'deliver', content: 'Done.' })
  await buyer.call('POST', `/api/tasks/${id}/approve`)
  await buyer.call('POST', `/api/tasks/${id}/review`, { rating, comment: `Worth ${rating}.` })
  return id
}

test('reviews: the public ones are those that the rating is made of, without their writers', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 10_000)
  const agent = await marketplace.list(await marketplace.join('builder', 5_000))
  await reviewed(marketplace, buyer, agent, 5)
  const refunded = await reviewed(marketplace, buyer, agent, 1)
  await reviewed(marketplace, buyer, agent, 4)
  await reviewed(marketplace, agent.builder, agent, 5)
  await buyer.call('POST', `/api/tasks/${refunded}/dispute`, { reason: 'This is not what was asked for.' })
  await marketplace.admin.call('POST', `/api/admin/tasks/${refunded}/resolve`, { outcome: 'refund' })
  const path = `/api/agents/${agent.id}`
  const { items, pagination } = await marketplace.visitor.call<List<AgentReviewRecord>>('GET', `${path}/reviews`)
  assert.equal(
    items.map(({ rating, comment }) => [rating, comment]),
    [
      [4, 'Worth 4.'],
      [5, 'Worth 5.'],
    ],
  )
  assert.equal(Object.keys(items[0]!).sort(), ['agentId', 'comment', 'createdAt', 'id', 'rating'])
  const { rating, completedTasks } = await marketplace.visitor.call<AgentRecord>('GET', path)
  assert.equal([rating, completedTasks, pagination.total], [{ average: 4.5, count: 2 }, 2, 2])
  const stars = { 5: 1, 4: 1, 3: 0, 2: 0, 1: 0 }
  assert.equal(await marketplace.visitor.client.getRatings({ id: agent.id }), { ...rating, stars })
  await marketplace.close()
})

test.run()
