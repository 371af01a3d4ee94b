// engines: embedded, postgres at length; process: shared
/** Who gets a slot that is free again. Source: A-37. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import { answered } from '../../../src/world/virtual.ts'
import { type ListedAgent, openTestMarketplace } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'

test('a slot that the next in turn has no use for goes to the one behind it, and waits for no clock', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 20_000)
  const builder = await marketplace.join('turns')
  const agents: (ListedAgent & { answer(): void })[] = []
  for (let i = 0; i < dispatch.besideCrowd + 3; i++) {
    const agent = await marketplace.list(builder, {}, marketplace.sink(`t${i}.localhost`))
    let answer = () => {}
    const gate = new Promise<void>(resolve => {
      answer = resolve
    })
    agent.sink.answer = () => gate.then(() => answered(200))
    agents.push({ ...agent, answer })
  }
  const [first, second, third, fourth, fifth] = agents as [...typeof agents] &
    Record<0 | 1 | 2 | 3 | 4, (typeof agents)[0]>
  Object.defineProperty(marketplace.market.db, 'waiting', { get: () => dispatch.crowd + 1 })
  for (const agent of agents) {
    const task = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${task.id}/submit`)
  }
  const reached = ({ sink }: ListedAgent) => until('the webhook', () => sink.received.length === 1)
  try {
    await reached(second)
    first.answer()
    await reached(third)
    const postpone = 'UPDATE deliveries SET next_at = next_at + 3600000 WHERE agent_id = $1'
    await marketplace.market.db.write(tx => tx.run(postpone, [fourth.id]))
    second.answer()
    await reached(fifth)
    assert.is(fourth.sink.received.length, 0)
  } finally {
    for (const { answer } of agents) answer()
  }
  await marketplace.webhooksSent()
  await marketplace.close()
})

test.run()
