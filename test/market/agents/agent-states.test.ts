// engines: embedded, postgres at length; process: shared
/** The states of an agent over the wire: who moves it, from where, and what goes on meanwhile. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AgentState } from '../../../src/api/flow.ts'
import type { CategoryRecord, OwnAgentRecord, TaskRecord } from '../../../src/api/records.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const states: readonly AgentState[] = ['draft', 'pending_review', 'verified', 'active', 'inactive']
const triggers = ['publish', 'approve', 'reject', 'deactivate', 'reactivate'] as const

/** Every edge there is; by hand, from the interface. */
const edges: Readonly<Record<string, AgentState>> = {
  'draft publish': 'pending_review',
  'pending_review approve': 'verified',
  'pending_review reject': 'draft',
  'verified deactivate': 'inactive',
  'active deactivate': 'inactive',
  'inactive reactivate': 'active',
}

const mine = (agent: { id: string }, rest = '') => `/api/my/agents/${agent.id}${rest}`
const minute = 60_000

const pull = (marketplace: TestMarketplace, agent: ListedAgent, trigger: (typeof triggers)[number]) =>
  trigger === 'approve' || trigger === 'reject'
    ? marketplace.admin.ask('POST', `/api/admin/agents/${agent.id}/${trigger}`, { reason: 'Too thin.' })
    : agent.builder.ask('POST', mine(agent, `/${trigger}`))

/** A listed agent that was moved to a state by the interface alone. */
async function inState(marketplace: TestMarketplace, builder: TestUser, state: AgentState): Promise<ListedAgent> {
  const agent = await marketplace.list(builder)
  const setBack = `UPDATE agents SET status = $2 WHERE id = $1`
  if (state === 'draft' || state === 'pending_review')
    await marketplace.market.db.write(tx => tx.run(setBack, [agent.id, 'draft']))
  if (state === 'pending_review') await pull(marketplace, agent, 'publish')
  if (state === 'inactive' || state === 'active') await pull(marketplace, agent, 'deactivate')
  if (state === 'inactive' || state === 'active') await marketplace.pass(minute)
  if (state === 'inactive' || state === 'active') await marketplace.freshen(agent)
  if (state === 'active') await pull(marketplace, agent, 'reactivate')
  return agent
}

const statusOf = async ({ id, builder }: ListedAgent) =>
  (await builder.call<OwnAgentRecord>('GET', mine({ id }))).status

test('each trigger moves an agent along its edge and is refused with 400 everywhere else', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  for (const state of states) {
    for (const trigger of triggers) {
      const agent = await inState(marketplace, builder, state)
      assert.is(await statusOf(agent), state)
      const before = await marketplace.contents()
      const { status, data } = await pull(marketplace, agent, trigger)
      const to = edges[`${state} ${trigger}`]
      assert.is(status, to ? 200 : 400, `${state} ${trigger}`)
      assert.is(await statusOf(agent), to ?? state)
      if (to) assert.is((data as OwnAgentRecord).status, to)
      else assert.equal(await marketplace.contents(), before)
    }
  }
  await marketplace.close()
})

test('deactivate, reactivate and delete are the builder’s alone', async () => {
  const marketplace = await openTestMarketplace()
  const [builder, other] = [await marketplace.join('builder'), await marketplace.join('other')]
  const agent = await marketplace.list(builder)
  for (const [method, rest] of [
    ['POST', '/deactivate'],
    ['POST', '/reactivate'],
    ['DELETE', ''],
  ] as const) {
    assert.is((await other.ask(method, mine(agent, rest), undefined, 'key')).status, 403)
    assert.is((await marketplace.visitor.ask(method, mine(agent, rest))).status, 401)
    assert.is((await builder.ask(method, mine({ id: 'agt_none' }, rest))).status, 404)
  }
  assert.is(await statusOf(agent), 'verified')
  await marketplace.close()
})

test('reactivate: needs a pass newer than the deactivation, and not older than 24 hours', async () => {
  const marketplace = await openTestMarketplace()
  const agent = await marketplace.list(await marketplace.join('builder'))
  await marketplace.pass(minute)
  const hidden = await agent.builder.call<OwnAgentRecord>('POST', mine(agent, '/deactivate'), undefined, 'key')
  assert.equal([hidden.visible, hidden.hiddenReason], [false, 'The agent is deactivated'])
  assert.is((await marketplace.visitor.ask('GET', `/api/agents/${agent.id}`)).status, 404)
  assert.equal((await marketplace.visitor.call<{ items: [] }>('GET', '/api/agents')).items, [])
  const early = await agent.builder.ask('POST', mine(agent, '/reactivate'))
  assert.equal([early.status, /since the deactivation/.test(early.error ?? '')], [400, true])
  // A test at the very moment of the deactivation is not newer than it.
  await marketplace.freshen(agent)
  assert.is((await agent.builder.ask('POST', mine(agent, '/reactivate'))).status, 400)
  await marketplace.pass(1)
  await marketplace.freshen(agent)
  await marketplace.pass(24 * 60 * minute + 1)
  assert.is((await agent.builder.ask('POST', mine(agent, '/reactivate'))).status, 400)
  await marketplace.freshen(agent)
  const shown = await agent.builder.call<OwnAgentRecord>('POST', mine(agent, '/reactivate'))
  assert.equal([shown.status, shown.visible, shown.hiddenReason], ['active', true, null])
  assert.is((await marketplace.visitor.ask('GET', `/api/agents/${agent.id}`)).status, 200)
  await marketplace.close()
})

test('a deactivated agent finishes its open tasks, still gets their events, and takes no new ones', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const [open, draft] = [await marketplace.draft(buyer, agent), await marketplace.draft(buyer, agent)]
  await buyer.call('POST', `/api/tasks/${open.id}/submit`)
  await agent.builder.call('POST', mine(agent, '/deactivate'))
  assert.is((await marketplace.callback(agent, open.id, { action: 'accept' })).status, 200)
  assert.is((await marketplace.callback(agent, open.id, { action: 'deliver', content: 'Done.' })).status, 200)
  await buyer.call('POST', `/api/tasks/${open.id}/approve`)
  await marketplace.webhooksSent()
  assert.equal(
    agent.sink.received.map(({ event }) => event),
    ['task.submitted', 'task.approved'],
  )
  assert.is((await buyer.ask('POST', `/api/tasks/${draft.id}/submit`)).status, 400)
  const fields = { agentId: agent.id, title: 'Another task', description: 'Twenty characters or so.', agreedPrice: 500 }
  assert.is((await buyer.ask('POST', '/api/tasks', fields)).status, 404)
  await marketplace.close()
})

test('delete: refused with 409 while there is open work; afterwards the agent is 404 and its tasks keep it', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { builder } = agent
  const task = await marketplace.draft(buyer, agent)
  const path = `/api/tasks/${task.id}`
  const refused = async () => {
    const before = await marketplace.contents()
    assert.is((await builder.ask('DELETE', mine(agent))).status, 409)
    assert.equal(await marketplace.contents(), before)
  }
  await buyer.call('POST', `${path}/submit`)
  await refused()
  await marketplace.callback(agent, task.id, { action: 'accept' })
  await refused()
  await marketplace.callback(agent, task.id, { action: 'deliver', content: 'Done.' })
  await refused()
  await buyer.call('POST', `${path}/approve`)
  await buyer.call('POST', `${path}/dispute`, { reason: 'This is not what was asked for.' })
  await refused()
  await marketplace.admin.call('POST', `/api/admin/tasks/${task.id}/resolve`, { outcome: 'release' })

  assert.equal(await builder.call('DELETE', mine(agent), undefined, 'key'), { id: agent.id })
  for (const method of ['GET', 'PUT', 'DELETE'] as const)
    assert.is((await builder.ask(method, mine(agent), method === 'PUT' ? {} : undefined)).status, 404)
  for (const rest of ['/publish', '/deactivate', '/reactivate', '/webhook-secret', '/test-connection'])
    assert.is((await builder.ask('POST', mine(agent, rest), {})).status, 404, rest)
  assert.is((await marketplace.admin.ask('GET', `/api/admin/agents/${agent.id}`)).status, 404)
  assert.is((await builder.ask('GET', `/api/agents/${agent.id}`)).status, 404)
  assert.equal((await builder.call<{ items: [] }>('GET', '/api/my/agents')).items, [])
  const categories = await marketplace.visitor.call<CategoryRecord[]>('GET', '/api/categories')
  assert.is(categories.find(({ id }) => id === 'cat_writing')?.activeAgentCount, 0)
  const kept = await buyer.call<TaskRecord>('GET', path)
  assert.equal(kept.agent, task.agent)
  const next = await marketplace.list(builder)
  const { slug } = await builder.call<OwnAgentRecord>('GET', mine(next))
  assert.equal([task.agent.slug, slug], ['test-writer', 'test-writer-2'])
  await marketplace.close()
})

test('delete and submit at the same moment: one of them wins, and no money is held for a deleted agent', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 50_000)
  const builder = await marketplace.join('builder')
  const seen = new Set<string>()
  for (let round = 0; round < 20; round++) {
    const agent = await marketplace.list(builder)
    const task = await marketplace.draft(buyer, agent)
    const submit = () => buyer.ask('POST', `/api/tasks/${task.id}/submit`)
    const remove = () => builder.ask('DELETE', mine(agent))
    const both = round % 2 ? [submit(), remove()] : [remove(), submit()]
    const statuses = (await Promise.all(both)).map(({ status }) => status)
    if (round % 2 === 0) statuses.reverse()
    const [submitted, removed] = statuses
    seen.add(`${submitted} ${removed}`)
    const { status } = await buyer.call<TaskRecord>('GET', `/api/tasks/${task.id}`)
    assert.is(status, submitted === 200 ? 'pending' : 'draft')
    assert.is((await builder.ask('GET', mine(agent))).status, removed === 200 ? 404 : 200)
  }
  for (const outcome of seen) assert.ok(['200 409', '400 200'].includes(outcome), outcome)
  await marketplace.checkLedger()
  await marketplace.close()
})

test.run()
