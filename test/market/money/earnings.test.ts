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
  const nothing = { currency: 'USD', totalEarned: 0, clearing: 0, available: 0, completedTasks: 0, byAgent: [] }
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
