// engines: embedded, postgres and narrow at length; process: shared
/** What administrators find, decide with a reason, and say to both parties of a task. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace } from '../../support/marketplace.ts'

const WHY = 'The work has half of what was asked for'

test('accounts are found by how their name or email begins, and one is shown with its wallet', async () => {
  const marketplace = await openTestMarketplace()
  const { client } = marketplace.admin
  const ada = await marketplace.join('Ada Lovelace'.replace(' ', '-'), 5_000)
  await marketplace.join('adam')
  await marketplace.join('bert')
  const found = async (q: string) => {
    const { items, pagination } = await client.adminListUsers({ q })
    assert.is(pagination.total, items.length)
    return items.map(({ name }) => name)
  }
  assert.equal(await found('ada'), ['Ada-Lovelace', 'adam'])
  assert.equal(await found('ADA-L'), ['Ada-Lovelace'])
  assert.equal(await found('adam@ex'), ['adam'])
  assert.equal(await found(ada.id), ['Ada-Lovelace'])
  assert.equal(await found('lovelace'), [])
  assert.equal(await found('%'), [])
  await ada.call('PUT', '/api/auth/me', { name: 'Grace Hopper' })
  assert.equal(await found('gRACE h'), ['Grace Hopper'])
  assert.equal(await found('ada-l'), ['Grace Hopper'], 'by the email')
  const page = await client.adminListUsers({ q: 'ada', limit: 1, page: 2 })
  assert.equal([page.items[0]!.name, page.pagination.total], ['adam', 2])
  const one = await client.adminGetUser({ id: ada.id })
  assert.equal([one.email, one.wallet], [ada.email.toLowerCase(), { available: 5_000, held: 0, clearing: 0 }])
  assert.is((await marketplace.admin.ask('GET', '/api/admin/users/usr_none')).status, 404)
  await marketplace.close()
})

test('the queues tell how many wait, and since when the first does', async () => {
  const marketplace = await openTestMarketplace({ payments: 'manual' })
  const { client } = marketplace.admin
  const nothing = { count: 0, oldestAt: null }
  const [agents, disputes, webhooks, mails] = [nothing, nothing, nothing, nothing]
  const [deposits, withdrawals] = [nothing, nothing]
  assert.equal(await client.adminQueues(), { agents, disputes, deposits, withdrawals, webhooks, mails })
  const buyer = await marketplace.join('buyer')
  const agent = await marketplace.list(await marketplace.join('builder'))
  const first = await buyer.client.deposit({ amount: 5_000 })
  await marketplace.pass(1_000)
  await buyer.client.deposit({ amount: 500 })
  const two = await client.adminQueues()
  assert.equal(two.deposits, { count: 2, oldestAt: '2026-01-01T00:00:00.000Z' })
  await client.confirmDeposit({ id: first.id })
  const at = '2026-01-01T00:00:01.000Z'
  assert.equal((await client.adminQueues()).deposits, { count: 1, oldestAt: at })
  agent.sink.status = 500
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await agent.builder.client.acceptTask({ id })
  await buyer.client.disputeTask({ id, reason: 'It is not what was asked for' })
  await marketplace.webhooksSent()
  const { name, tagline, description, pricingModel, basePrice, categoryIds } =
    await agent.builder.client.getMyAgent(agent)
  const more = { name, tagline, description, pricingModel, basePrice, categoryIds, webhookUrl: agent.sink.url }
  agent.sink.status = 200
  const reviewed = await agent.builder.client.createAgent(more)
  agent.sink.secret = (await agent.builder.client.rotateSecret({ id: reviewed.id })).secret
  await marketplace.freshen({ ...agent, id: reviewed.id })
  await agent.builder.client.publishAgent({ id: reviewed.id })
  const waiting = { count: 1, oldestAt: at }
  const queues = await client.adminQueues()
  assert.equal([queues.disputes, queues.agents], [waiting, waiting])
  assert.equal(queues.webhooks, { count: 2, oldestAt: at })
  await marketplace.close()
})

test('who rejects a payment may say why, and its owner reads it', async () => {
  const marketplace = await openTestMarketplace({ payments: 'manual' })
  const { client } = marketplace.admin
  const buyer = await marketplace.join('buyer')
  const [first, second] = [await buyer.client.deposit({ amount: 500 }), await buyer.client.deposit({ amount: 600 })]
  assert.is(first.reason, null)
  const rejected = await client.rejectDeposit({ id: first.id, reason: 'No money came from you' })
  assert.equal([rejected.status, rejected.reason, rejected.user.name], ['rejected', 'No money came from you', 'buyer'])
  assert.is((await client.rejectDeposit({ id: second.id })).reason, null)
  const { items } = await buyer.client.listTransactions()
  assert.equal(
    items.map(({ id, reason }) => [id, reason]),
    [
      [second.id, null],
      [first.id, 'No money came from you'],
    ],
  )
  await marketplace.checkLedger()
  await marketplace.close()
})

test('both parties read why a dispute was resolved so, and what an administrator writes to them', async () => {
  const marketplace = await openTestMarketplace()
  const { client } = marketplace.admin
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { builder } = agent
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await builder.client.acceptTask({ id })
  await buyer.client.disputeTask({ id, reason: 'It is not what was asked for' })
  await marketplace.webhooksSent()
  const webhooks = agent.sink.received.length
  const written = await client.adminSendMessage({ id, content: 'Please say what was agreed' })
  assert.is(written.senderRole, 'system')
  await client.resolveTask({ id, outcome: 'split', refundAmount: 400, reason: WHY })
  for (const party of [buyer, builder]) {
    const { dispute } = await party.client.getTask({ id })
    assert.equal([dispute!.outcome, dispute!.outcomeReason, dispute!.refundAmount], ['split', WHY, 400])
    assert.equal((await party.client.listMessages({ id })).items, [written])
    const { items } = await party.client.listNotifications()
    const news = items.map(({ type, data }) => [type, 'reason' in data ? data.reason : undefined])
    assert.equal(news.slice(0, 2), [
      ['dispute_resolved', WHY],
      ['administrator_wrote', undefined],
    ])
  }
  await marketplace.webhooksSent()
  assert.is(agent.sink.received.length, webhooks, 'the agent hears of neither')
  const after = await client.adminSendMessage({ id, content: 'That was it' })
  assert.is(after.taskId, id)
  assert.is((await buyer.ask('POST', `/api/admin/tasks/${id}/messages`, { content: 'Me too' })).status, 403)
  assert.is((await marketplace.admin.ask('POST', '/api/admin/tasks/task_none/messages', { content: 'x' })).status, 404)
  await marketplace.checkLedger()
  await marketplace.close()
})

test.run()
