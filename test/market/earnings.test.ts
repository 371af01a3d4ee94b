// engines: embedded, postgres; process: shared
/** What a builder earned, over the wire. Source: I-builder, A-26. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import { type ListedAgent, openHouse } from '../support/marketplace.ts'
import { refusingTx } from '../support/refusing-tx.ts'

test('earnings add up over agents, from clearing to available, net of what was taken back', async () => {
  const house = await openHouse()
  const [buyer, builder] = [await house.join('buyer', 100_000), await house.join('builder', 5_000)]
  const [one, two] = [await house.list(builder, { name: 'One' }), await house.list(builder, { name: 'Two' })]
  const earnings = () => builder.call('GET', '/api/my/earnings', undefined, 'key')
  const nothing = { currency: 'USD', totalEarned: 0, clearing: 0, available: 0, completedTasks: 0, byAgent: [] }
  assert.equal(await earnings(), nothing)

  const sell = async (agent: ListedAgent, agreedPrice: number, who = buyer) => {
    const { id } = await house.draft(who, agent, { agreedPrice })
    await who.call('POST', `/api/tasks/${id}/submit`)
    await house.callback(agent, id, { action: 'accept' })
    await house.callback(agent, id, { action: 'deliver', content: 'x' })
    await who.call('POST', `/api/tasks/${id}/approve`)
    return id
  }
  const resolve = async (id: string, body: object) => {
    await buyer.call('POST', `/api/tasks/${id}/dispute`, { reason: 'Because of a test' })
    await house.admin.call('POST', `/api/admin/tasks/${id}/resolve`, body)
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
  assert.equal(await house.balances(builder.id), { available: 5_400, held: 0, clearing: 4_000 })
  await house.pass(durations.clearingMs)
  assert.equal(await earnings(), { ...nothing, ...settled, available: 4_400 })

  await house.freshen(one)
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
  await house.close()
})

test('earnings need the builder role', async () => {
  const house = await openHouse()
  const builder = await house.join('builder')
  await builder.call('PUT', '/api/auth/me', { isBuilder: false })
  assert.is((await builder.ask('GET', '/api/my/earnings')).status, 403)
  assert.is((await house.visitor.ask('GET', '/api/my/earnings')).status, 401)
  await house.close()
})

test('a payment that can’t be cleared keeps none behind it from being cleared', async () => {
  const errors: string[] = []
  const house = await openHouse({ log: line => line.type === 'error' && errors.push(line.message) })
  const [buyer, builder] = [await house.join('buyer', 100_000), await house.join('builder')]
  const agent = await house.list(builder)
  const ids: string[] = []
  for (const agreedPrice of [1_000, 2_000]) {
    const { id } = await house.draft(buyer, agent, { agreedPrice })
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    await house.callback(agent, id, { action: 'accept' })
    await house.callback(agent, id, { action: 'deliver', content: 'x' })
    await buyer.call('POST', `/api/tasks/${id}/approve`)
    ids.push(id)
    house.world.advance(house.world.now() + 1)
  }
  const { db } = house.market
  const write = db.write.bind(db)
  db.write = work => write(tx => work(refusingTx(tx, (_, values) => values.includes(ids[0]!))))
  await house.pass(durations.clearingMs)
  assert.match(errors.join(), new RegExp(`^The payment of ${ids[0]} could not be cleared`))
  assert.is((await house.balances(builder.id)).available, 2_000)
  db.write = write
  await house.runDue()
  assert.is((await house.balances(builder.id)).available, 2_000, 'it is not tried again at once')
  house.world.tick(61_000)
  await house.runDue()
  assert.is((await house.balances(builder.id)).available, 3_000)
  await house.checkLedger()
  await house.close()
})

test.run()
