// engines: embedded, postgres at length; process: shared
/** What a builder earned, over the wire. Source: I-builder, A-26. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import { type ListedAgent, openTestMarketplace } from '../../support/marketplace.ts'
import { refusingTx } from '../../support/refusing-tx.ts'

test('earnings add up over agents, from clearing to available, net of what was taken back', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 100_000), await marketplace.join('builder', 5_000)]
  const [one, two] = [
    await marketplace.list(builder, { name: 'One' }),
    await marketplace.list(builder, { name: 'Two' }),
  ]
  const earnings = () => builder.call('GET', '/api/my/earnings', undefined, 'key')
  const none = { clearing: 0, available: 0, held: 0, inDispute: 0 }
  const nothing = { currency: 'USD', totalEarned: 0, ...none, completedTasks: 0, byAgent: [] }
  assert.equal(await earnings(), nothing)

  const sell = async (agent: ListedAgent, agreedPrice: number, who = buyer) => {
    const { id } = await marketplace.draft(who, agent, { agreedPrice })
    await who.call('POST', `/api/tasks/${id}/submit`)
    await marketplace.callback(agent, id, { action: 'accept' })
    await marketplace.callback(agent, id, { action: 'deliver', content: 'x' })
    await who.call('POST', `/api/tasks/${id}/approve`)
    return id
  }
  const resolve = async (id: string, body: object) => {
    await buyer.call('POST', `/api/tasks/${id}/dispute`, { reason: 'Because of a test' })
    await marketplace.admin.call('POST', `/api/admin/tasks/${id}/resolve`, body)
  }
  const row = (agent: ListedAgent, name: string, earned: number, completedTasks: number) => ({
    agentId: agent.id,
    name,
    earned,
    ...{ held: 0, inDispute: 0 },
    completedTasks,
  })
  await sell(one, 1_000)
  await sell(two, 3_000)
  const split = await sell(two, 700)
  const refunded = await sell(one, 500)
  assert.equal(await earnings(), {
    ...nothing,
    totalEarned: 5_200,
    clearing: 5_200,
    completedTasks: 4,
    byAgent: [row(two, 'Two', 3_700, 2), row(one, 'One', 1_500, 2)],
  })
  await resolve(split, { outcome: 'split', refundAmount: 300 })
  await resolve(refunded, { outcome: 'refund' })
  const settled = {
    totalEarned: 4_400,
    completedTasks: 3,
    byAgent: [row(two, 'Two', 3_400, 2), row(one, 'One', 1_000, 1)],
  }
  assert.equal(await earnings(), { ...nothing, ...settled, clearing: 4_000, available: 400 })
  assert.equal(await marketplace.balances(builder.id), { available: 5_400, held: 0, clearing: 4_000 })
  await marketplace.pass(durations.clearingMs)
  assert.equal(await earnings(), { ...nothing, ...settled, available: 4_400 })

  await marketplace.freshen(one)
  await sell(one, 200, builder)
  assert.equal(
    await earnings(),
    {
      ...nothing,
      totalEarned: 4_600,
      clearing: 200,
      available: 4_400,
      completedTasks: 3,
      byAgent: [row(two, 'Two', 3_400, 2), row(one, 'One', 1_200, 1)],
    },
    'paying oneself moves money, but is no completed task',
  )
  assert.equal(await buyer.call('GET', '/api/my/earnings'), nothing, 'nobody sees another’s')
  await marketplace.close()
})

test('what is held for an agent and what is in dispute count until they are settled', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 50_000)
  const builder = await marketplace.join('builder')
  const [one, two] = [await marketplace.list(builder), await marketplace.list(builder, { name: 'Two' })]
  const hire = async (agent: ListedAgent, agreedPrice: number) => {
    const { id } = await marketplace.draft(buyer, agent, { agreedPrice })
    await buyer.client.submitTask({ id })
    return id
  }
  const sums = async () => {
    const { held, inDispute, byAgent } = await builder.client.getEarnings()
    return [
      held,
      inDispute,
      Object.fromEntries(byAgent.map(row => [row.agentId, [row.earned, row.held, row.inDispute]])),
    ]
  }
  await marketplace.draft(buyer, one)
  const first = await hire(one, 300)
  const second = await hire(one, 500)
  await hire(two, 700)
  assert.equal(await sums(), [1_500, 0, { [one.id]: [0, 800, 0], [two.id]: [0, 700, 0] }])
  for (const id of [first, second]) {
    await builder.client.acceptTask({ id })
    await builder.client.deliverTask({ id, content: 'x' })
  }
  await buyer.client.disputeTask({ id: first, reason: 'It is not what was asked for' })
  await buyer.client.approveTask({ id: second })
  assert.equal(await sums(), [1_000, 300, { [one.id]: [500, 300, 300], [two.id]: [0, 700, 0] }])
  await buyer.client.disputeTask({ id: second, reason: 'It is not what was asked for' })
  assert.equal(await sums(), [1_000, 800, { [one.id]: [500, 300, 800], [two.id]: [0, 700, 0] }])
  for (const id of [first, second]) await marketplace.admin.client.resolveTask({ id, outcome: 'refund' })
  assert.equal(await sums(), [700, 0, { [two.id]: [0, 700, 0] }])
  await marketplace.checkLedger()
  await marketplace.close()
})

test('earnings need the builder role', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  await builder.call('PUT', '/api/auth/me', { isBuilder: false })
  assert.is((await builder.ask('GET', '/api/my/earnings')).status, 403)
  assert.is((await marketplace.visitor.ask('GET', '/api/my/earnings')).status, 401)
  await marketplace.close()
})

test('a payment that can’t be cleared keeps none behind it from being cleared', async () => {
  const errors: string[] = []
  const marketplace = await openTestMarketplace({ log: line => line.type === 'error' && errors.push(line.message) })
  const [buyer, builder] = [await marketplace.join('buyer', 100_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const ids: string[] = []
  for (const agreedPrice of [1_000, 2_000]) {
    const { id } = await marketplace.draft(buyer, agent, { agreedPrice })
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    await marketplace.callback(agent, id, { action: 'accept' })
    await marketplace.callback(agent, id, { action: 'deliver', content: 'x' })
    await buyer.call('POST', `/api/tasks/${id}/approve`)
    ids.push(id)
    marketplace.world.advance(marketplace.world.now() + 1)
  }
  const { db } = marketplace.market
  const write = db.write.bind(db)
  db.write = work => write(tx => work(refusingTx(tx, (_, values) => values.includes(ids[0]!))))
  await marketplace.pass(durations.clearingMs)
  assert.match(errors.join(), new RegExp(`^The payment of ${ids[0]} could not be cleared`))
  assert.is((await marketplace.balances(builder.id)).available, 2_000)
  db.write = write
  await marketplace.runDue()
  assert.is((await marketplace.balances(builder.id)).available, 2_000, 'it is not tried again at once')
  marketplace.world.tick(61_000)
  await marketplace.runDue()
  assert.is((await marketplace.balances(builder.id)).available, 3_000)
  await marketplace.checkLedger()
  await marketplace.close()
})

test.run()
