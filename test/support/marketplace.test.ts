// engines: embedded, postgres; process: own
/** The harness itself: a whole life in a virtual world, over real HTTP. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import type { TaskRecord } from '../../src/api/records.ts'
import { openHouse } from './marketplace.ts'

test('a life from draft to cleared payment, with time passing only when told', async () => {
  const house = await openHouse()
  const [buyer, builder] = [await house.join('buyer', 5_000), await house.join('builder')]
  const agent = await house.list(builder)
  const task = await house.draft(buyer, agent)
  const path = `/api/tasks/${task.id}`
  await buyer.call('POST', `${path}/submit`)
  assert.equal(await house.balances(buyer.id), { available: 4_000, held: 1_000, clearing: 0 })
  assert.is((await house.callback(agent, task.id, { action: 'accept' })).status, 200)
  const delivered = await house.callback<{ task: TaskRecord }>(agent, task.id, { action: 'deliver', content: 'Done.' })
  assert.is(delivered.data?.task.status, 'delivered')
  await buyer.call('POST', `${path}/approve`, undefined, 'key')
  assert.equal(await house.balances(builder.id), { available: 0, held: 0, clearing: 1_000 })
  await house.pass(durations.clearingMs)
  assert.equal(await house.balances(builder.id), { available: 1_000, held: 0, clearing: 0 })
  await house.webhooksSent()
  assert.equal(
    agent.sink.received.map(({ event }) => event),
    ['task.submitted', 'task.approved'],
  )
  await house.checkLedger()
  const before = await house.contents()
  assert.is((await house.visitor.ask('POST', `${path}/approve`)).status, 401)
  assert.equal(await house.contents(), before)
  await house.close()
})

test.run()
