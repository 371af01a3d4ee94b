// engines: embedded, postgres at length; process: shared
/** Every text and number that goes along with a step of a task, at its edge and one beyond. Source: I-task-input, A-20, A-21, A-32. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { accepts, bodyWith, integerRule, Raw, refuses, type Send, textRule } from '../support/edges.ts'
import type { ListedAgent, TestMarketplace, TestUser } from '../support/marketplace.ts'
import { openTrade, type Trade } from '../support/trade.ts'

const limit = suite<Trade>('limits')

limit.before(async context => void Object.assign(context, await openTrade(1_000_000)))
limit.after(({ marketplace }) => marketplace.close())

/** One text of a task in work, sent and taken back to where it was. */
async function delivering(
  marketplace: TestMarketplace,
  buyer: TestUser,
  agent: ListedAgent,
  send: (id: string, value: unknown) => ReturnType<Send>,
) {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await agent.builder.call('POST', `/api/tasks/${id}/accept`)
  return async (value: unknown) => {
    const answer = await send(id, value)
    if (answer.status === 200) await buyer.call('POST', `/api/tasks/${id}/request-revision`, { reason: 'Again.' })
    return answer
  }
}

const content = { content: 'Done.' }
const routes = ['tasks', 'agent/tasks'] as const

for (const [field, range] of Object.entries({ content: [1, 50_000], notes: [0, 2_000] } as const)) {
  for (const route of routes) {
    limit(`a deliverable's ${field}, by /api/${route}`, async ({ marketplace, buyer, builder, agent }) => {
      const send = await delivering(marketplace, buyer, agent, (id, value) =>
        builder.ask('POST', `/api/${route}/${id}/deliver`, bodyWith(content, field, value), 'key'),
      )
      await textRule(send, field, [...range])
    })
  }

  limit(`a deliverable's ${field}, by the signed callback`, async ({ marketplace, buyer, agent }) => {
    const send = await delivering(marketplace, buyer, agent, (id, value) =>
      marketplace.callback(agent, id, { action: 'deliver', ...content, [field]: value }),
    )
    await textRule(send, field, [...range])
  })
}

limit('50,000 characters fit, each of them escaped', async ({ marketplace, buyer, builder, agent }) => {
  const send = await delivering(marketplace, buyer, agent, (id, value) =>
    builder.ask('POST', `/api/tasks/${id}/deliver`, bodyWith({}, 'content', value), 'key'),
  )
  await accepts(send, new Raw(`"${'\\ud83d\\ude00'.repeat(50_000)}"`))
  await refuses(send, 'content', new Raw(`"${'\\ud83d\\ude00'.repeat(50_001)}"`), new Raw('"\\ud83d"'))
})

limit('the content of a message', async ({ marketplace, buyer, agent }) => {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  const path = `/api/tasks/${id}/messages`
  await textRule(value => buyer.ask('POST', path, bodyWith({}, 'content', value), 'key'), 'content', [1, 5_000])
  const signed = (field: string) => (value: unknown) =>
    marketplace.callback(agent, id, { action: 'message', [field]: value })
  await textRule(signed('content'), 'content', [1, 5_000])
  // The other name is accepted; what is wrong is said of the name in the interface.
  await textRule(signed('message'), 'content', [1, 5_000])
})

limit('the reason for a revision', async ({ marketplace, buyer, builder, agent }) => {
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await builder.call('POST', `/api/tasks/${id}/accept`)
  await builder.call('POST', `/api/tasks/${id}/deliver`, content)
  const send: Send = async value => {
    const answer = await buyer.ask('POST', `/api/tasks/${id}/request-revision`, bodyWith({}, 'reason', value), 'key')
    if (answer.status === 200) await builder.call('POST', `/api/tasks/${id}/deliver`, content)
    return answer
  }
  await textRule(send, 'reason', [1, 2_000])
})

/** A rule of a step that can be taken once: each value meets a task of its own. */
const onFresh =
  (make: () => Promise<string>, ask: (id: string, value: unknown) => ReturnType<Send>): Send =>
  async value => {
    spare ??= await make()
    const answer = await ask(spare, value)
    if (answer.status < 300) spare = undefined
    return answer
  }
let spare: string | undefined

limit('the reason for a dispute', async ({ marketplace, buyer, builder, agent }) => {
  spare = undefined
  const make = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    await builder.call('POST', `/api/tasks/${id}/accept`)
    return id
  }
  const ask = (id: string, value: unknown) =>
    buyer.ask('POST', `/api/tasks/${id}/dispute`, bodyWith({}, 'reason', value), 'key')
  await textRule(onFresh(make, ask), 'reason', [10, 2_000])
})

limit('the reason for a rejection, by both routes', async ({ marketplace, buyer, builder, agent }) => {
  const make = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    return id
  }
  const byKey = (id: string, value: unknown) =>
    builder.ask('POST', `/api/agent/tasks/${id}/reject`, bodyWith({}, 'reason', value), 'key')
  const signed = (id: string, reason: unknown) => marketplace.callback(agent, id, { action: 'reject', reason })
  for (const ask of [byKey, signed]) {
    spare = undefined
    await textRule(onFresh(make, ask), 'reason', [0, 2_000])
  }
})

limit('the rating and the comment of a review', async ({ marketplace, buyer, builder, agent }) => {
  spare = undefined
  const make = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    await builder.call('POST', `/api/tasks/${id}/accept`)
    await builder.call('POST', `/api/tasks/${id}/deliver`, content)
    await buyer.call('POST', `/api/tasks/${id}/approve`)
    return id
  }
  const ask = (field: string) => (id: string, value: unknown) =>
    buyer.ask('POST', `/api/tasks/${id}/review`, bodyWith({ rating: 3 }, field, value), 'key')
  await integerRule(onFresh(make, ask('rating')), 'rating', [1, 5])
  await textRule(onFresh(make, ask('comment')), 'comment', [0, 2_000])
})

limit(
  'the refunded part of a split: from 1 cent to one less than the price',
  async ({ marketplace, buyer, builder, agent }) => {
    spare = undefined
    const make = async () => {
      const { id } = await marketplace.draft(buyer, agent)
      await buyer.call('POST', `/api/tasks/${id}/submit`)
      await builder.call('POST', `/api/tasks/${id}/accept`)
      return id
    }
    const ask = (id: string, value: unknown) =>
      marketplace.admin.ask(
        'POST',
        `/api/admin/tasks/${id}/resolve`,
        bodyWith({ outcome: 'split' }, 'refundAmount', value),
      )
    const send = onFresh(make, ask)
    await refuses(send, 'refundAmount', 0, -1, 1.5, '1', undefined, null, 2 ** 53)
    assert.is((await send(1_000)).status, 400)
    await accepts(send, 1, 999)
    await refuses(
      value => marketplace.admin.ask('POST', `/api/admin/tasks/${spare}/resolve`, { outcome: value }),
      'outcome',
      'pay',
      5,
      undefined,
    )
  },
)

limit.run()
