// engines: embedded, postgres; process: own
/** The harness itself: a whole life in a virtual world, over real HTTP. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import type { TaskRecord } from '../../src/api/records.ts'
import { openTestMarketplace } from './marketplace.ts'

test('a life from draft to cleared payment, with time passing only when told', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const task = await marketplace.draft(buyer, agent)
  const path = `/api/tasks/${task.id}`
  await buyer.call('POST', `${path}/submit`)
  assert.equal(await marketplace.balances(buyer.id), { available: 4_000, held: 1_000, clearing: 0 })
  assert.is((await marketplace.callback(agent, task.id, { action: 'accept' })).status, 200)
  const delivered = await marketplace.callback<{ task: TaskRecord }>(agent, task.id, {
    action: 'deliver',
    content: 'Done.',
  })
  assert.is(delivered.data?.task.status, 'delivered')
  await buyer.call('POST', `${path}/approve`, undefined, 'key')
  assert.equal(await marketplace.balances(builder.id), { available: 0, held: 0, clearing: 1_000 })
  await marketplace.pass(durations.clearingMs)
  assert.equal(await marketplace.balances(builder.id), { available: 1_000, held: 0, clearing: 0 })
  await marketplace.webhooksSent()
  assert.equal(
    agent.sink.received.map(({ event }) => event),
    ['task.submitted', 'task.approved'],
  )
  await marketplace.checkLedger()
  const before = await marketplace.contents()
  assert.is((await marketplace.visitor.ask('POST', `${path}/approve`)).status, 401)
  assert.equal(await marketplace.contents(), before)
  const { db } = marketplace.market
  await db.write(tx => tx.run('UPDATE users SET name = $1 WHERE id = $2', ['Another', buyer.id]))
  const { users, ...others } = await marketplace.contents()
  assert.equal(users, before.users!.replace('"name":"buyer"', '"name":"Another"'))
  assert.equal(others, Object.fromEntries(Object.entries(before).filter(([table]) => table !== 'users')))
  await marketplace.close()
})

test.run()
