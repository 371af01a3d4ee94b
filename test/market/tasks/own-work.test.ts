// engines: embedded, postgres at length; process: shared
/** Who buys from himself, by himself or by an agent: what his lists count, and in whose name he speaks. Source. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../../src/api/records.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

const own = suite<{ marketplace: TestMarketplace; maker: TestUser; agent: ListedAgent; buyer: TestUser }>('own work')

own.before.each(async state => {
  state.marketplace = await openTestMarketplace()
  state.maker = await state.marketplace.join('maker', 20_000)
  state.buyer = await state.marketplace.join('buyer', 20_000)
  state.agent = await state.marketplace.list(state.maker)
})
own.after.each(({ marketplace }) => marketplace.close())

async function listed(who: TestUser, query = '') {
  const { tasks, pagination } = await who.call<{ tasks: TaskRecord[]; pagination: { total: number } }>(
    'GET',
    `/api/tasks${query}`,
    undefined,
    'key',
  )
  return { ids: tasks.map(({ id }) => id), total: pagination.total }
}

own('a builder is shown no draft for his agent, whatever he asks for, and it is not counted', async state => {
  const { marketplace, maker, buyer, agent } = state
  const draft = await marketplace.draft(buyer, agent)
  for (const query of ['', '?role=builder', '?role=builder&status=draft', '?status=draft']) {
    assert.equal(await listed(maker, query), { ids: [], total: 0 }, query)
  }
  assert.equal(await listed(buyer), { ids: [draft.id], total: 1 })
  assert.equal(await listed(buyer, '?role=builder'), { ids: [], total: 0 })
  await buyer.client.submitTask({ id: draft.id })
  assert.equal(await listed(maker, '?role=builder'), { ids: [draft.id], total: 1 })
  assert.equal(await listed(maker, '?role=buyer'), { ids: [], total: 0 })
})

own('a task that is one’s own as buyer and as builder is in the list once, and counted once', async state => {
  const { marketplace, maker, agent } = state
  const mine = await marketplace.draft(maker, agent)
  const sent = await marketplace.draft(maker, agent)
  await maker.client.submitTask({ id: sent.id })
  assert.equal(await listed(maker), { ids: [sent.id, mine.id], total: 2 })
  assert.equal(await listed(maker, '?role=buyer'), { ids: [sent.id, mine.id], total: 2 })
  assert.equal(await listed(maker, '?role=builder'), { ids: [sent.id], total: 1 })
  assert.equal(await listed(maker, '?status=pending'), { ids: [sent.id], total: 1 })
})

own(
  'a task that is one’s own as owner of the money and as builder of the buying agent is counted once',
  async state => {
    const { marketplace, maker, buyer, agent } = state
    const buying = await marketplace.list(buyer, { name: 'One that buys' })
    const caps = { maxPerTask: 1_000, maxDaily: 1_500, maxMonthly: 9_000 }
    const { id } = await buyer.client.createBudget({ agentId: buying.id, ...caps })
    const draft = await marketplace.draft(buyer, agent, { budgetAuthorizationId: id })
    await buyer.client.submitTask({ id: draft.id })
    for (const query of ['', '?role=buyer', '?status=pending']) {
      assert.equal(await listed(buyer, query), { ids: [draft.id], total: 1 }, query)
    }
    assert.equal(await listed(maker), { ids: [draft.id], total: 1 })
  },
)

own('who hires his own agent speaks as the buyer, and as the agent where the agent’s signature does', async state => {
  const { marketplace, maker, agent } = state
  const { id } = await marketplace.draft(maker, agent)
  await maker.client.submitTask({ id })
  const events = () => agent.sink.received.filter(({ event }) => event === 'task.message').length
  const signed = await marketplace.callback<{ senderRole: string }>(agent, id, {
    action: 'message',
    content: 'From the agent',
  })
  assert.equal([signed.status, signed.data!.senderRole], [201, 'agent'])
  await marketplace.webhooksSent()
  assert.is(events(), 0)
  const typed = await maker.client.sendMessage({ id, content: 'From the buyer' })
  assert.is(typed.senderRole, 'buyer')
  await marketplace.webhooksSent()
  assert.is(events(), 1)
})

own('a draft of a budget whose seller has become its hirer is refused at submission as well', async state => {
  const { marketplace, maker, buyer, agent } = state
  const buying = await marketplace.list(maker, { name: 'One that buys' })
  const other = await marketplace.list(await marketplace.join('other'), { name: 'One that sells' })
  const caps = { maxPerTask: 1_000, maxDaily: 1_500, maxMonthly: 9_000 }
  const budget = await buyer.client.createBudget({ agentId: buying.id, ...caps })
  const { id } = await marketplace.draft(maker, other, { budgetAuthorizationId: budget.id })
  const move = 'UPDATE tasks SET agent_id = $2, builder_id = $3 WHERE id = $1'
  await marketplace.market.db.write(tx => tx.run(move, [id, agent.id, maker.id]))
  const answer = await maker.ask('POST', `/api/tasks/${id}/submit`, undefined, 'key')
  assert.is(answer.status, 400)
  assert.match(answer.error!, /own builder/)
  assert.equal(await marketplace.balances(buyer.id), { available: 20_000, held: 0, clearing: 0 })
})

own.run()
