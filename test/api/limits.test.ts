// engines: embedded, postgres at length; process: shared
/** Every length and number of the interface at its edge and one beyond, over the wire. Source: I-records, I-limits, A-17. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type * as z from 'zod'
import { endpoints } from '../../src/api/endpoints/index.ts'
import type { OwnAgentRecord, TaskRecord } from '../../src/api/records.ts'
import { accepts, bodyWith, integerRule, Raw, refuses, ruleOfShape, type Send, textRule } from '../support/edges.ts'
import { taskFields } from '../support/marketplace.ts'
import { openTrade, type Trade } from '../support/trade.ts'

const limit = suite<Trade>('limits')

limit.before(async context => void Object.assign(context, await openTrade(1_000_000)))
limit.after(({ marketplace }) => marketplace.close())

const newAgent = {
  name: 'An agent at the edge',
  tagline: 'It tests the limits',
  description: 'It is made again and again, each time with one field that is just right or just wrong.',
  pricingModel: 'fixed',
  basePrice: 200,
  categoryIds: ['cat_code'],
}

type Rule = (send: Send, field: string) => Promise<void>

const text =
  (min: number, max: number): Rule =>
  (send, field) =>
    textRule(send, field, [min, max])
const optionalInteger =
  (min: number, max: number): Rule =>
  (send, field) =>
    integerRule(send, field, [min, max], true)

const price: Rule = async (send, field) => {
  await integerRule(send, field, [200, 1_000_000_000_000])
  await accepts(send, new Raw('2e2'), new Raw('200.0'), new Raw('0.2e3'))
  await refuses(send, field, '200', 200.5, 0, -200, 2 ** 53, new Raw('9007199254740993'))
}

const url: Rule = async (send, field) => {
  const long = (length: number) => `https://x.example/${'a'.repeat(length - 18)}`
  await accepts(send, 'https://x.example', 'http://x.example:8080/hook?q=1', long(2_048), undefined)
  await accepts(send, `https://x.example/${'😀'.repeat(2_030)}`)
  await refuses(send, field, long(2_049), '', 'nonsense', '/path', 'ftp://x.example', 'javascript:alert(1)', 'http://')
  await refuses(send, field, 'https://user@x.example', 'https://u:p@x.example', 'https://x.example/\0', 5, [], {})
}

/** What the interface says of some fields, by hand; what the shape says of all others. */
const rulesOf = ({ shape }: z.ZodObject, byHand: Record<string, Rule>): [field: string, rule: Rule][] =>
  Object.entries(shape).map(([field, one]) => {
    const rule = byHand[field] ?? ruleOfShape(one as z.ZodType)
    if (!rule) throw new Error(`${field} needs a rule in this file: its shape is neither a text nor an integer.`)
    return [field, rule]
  })

const agentRules: Record<string, Rule> = {
  name: text(2, 100),
  tagline: text(10, 200),
  description: text(50, 5_000),
  basePrice: price,
  turnaroundHours: optionalInteger(1, 720),
  maxRevisions: async (send, field) => {
    await optionalInteger(0, 10)(send, field)
    await accepts(send, null)
  },
  webhookUrl: url,
  async pricingModel(send, field) {
    await accepts(send, 'fixed', 'hourly', 'token')
    await refuses(send, field, 'Fixed', '', 'free', 1, null, ['fixed'])
  },
  async categoryIds(send, field) {
    const four = ['cat_writing', 'cat_code', 'cat_data', 'cat_research']
    await accepts(send, ['cat_design'], four)
    await refuses(
      send,
      field,
      [],
      [...four, 'cat_design'],
      ['cat_code', 'cat_code'],
      ['cat_none'],
      ['code'],
      'cat_code',
    )
    await refuses(send, field, [5], [null], [''], {}, 5, null)
  },
  async tags(send, field) {
    const tags = (count: number) => Array.from({ length: count }, (_, at) => `tag ${at}`)
    await accepts(send, [], tags(10), ['x'], ['x'.repeat(50)], ['😀'.repeat(50)], undefined)
    await refuses(send, field, tags(11), [''], ['   '], ['x'.repeat(51)], ['😀'.repeat(51)], ['\0'], [5], 'tag', {})
  },
}

for (const [field, rule] of rulesOf(endpoints.createAgent.body, agentRules)) {
  limit(`an agent's ${field}, when it is created`, ({ builder }) =>
    rule(value => builder.ask('POST', '/api/my/agents', bodyWith(newAgent, field, value), 'key'), field),
  )

  limit(`an agent's ${field}, when it is updated alone`, async ({ builder }) => {
    const { id } = await builder.call<OwnAgentRecord>('POST', '/api/my/agents', newAgent, 'key')
    // Left out, any field stays as it is: the rule of create would have it refused.
    await rule(async value => {
      const required = field in newAgent && value === undefined
      const answer = await builder.ask(
        'PUT',
        `/api/my/agents/${id}`,
        bodyWith({}, field, required ? null : value),
        'key',
      )
      return answer
    }, field)
  })
}

limit('defaults: 24 hours, revisions without limit; an avatar is for updates', async ({ builder }) => {
  const input = { ...newAgent, avatarUrl: 'nonsense', status: 'active', unknown: { deep: [1] } }
  const made = await builder.call<OwnAgentRecord>('POST', '/api/my/agents', input, 'key')
  assert.equal(
    [made.turnaroundHours, made.maxRevisions, made.avatarUrl, made.status, made.tags],
    [24, null, null, 'draft', []],
  )
  const send: Send = value => builder.ask('PUT', `/api/my/agents/${made.id}`, bodyWith({}, 'avatarUrl', value), 'key')
  await url(send, 'avatarUrl')
  await accepts(send, 'https://x.example/a.png', null)
})

limit('all that is missing or wrong is named at once', async ({ builder, buyer }) => {
  const agent = await builder.ask('POST', '/api/my/agents', {}, 'key')
  assert.equal(Object.keys(agent.errors!).sort(), [
    'basePrice',
    'categoryIds',
    'description',
    'name',
    'pricingModel',
    'tagline',
  ])
  const task = await buyer.ask('POST', '/api/tasks', { title: 'x', requirements: 5 }, 'key')
  assert.equal(Object.keys(task.errors!).sort(), ['agentId', 'agreedPrice', 'description', 'requirements', 'title'])
})

const taskRules: Record<string, Rule> = {
  title: text(5, 200),
  description: text(20, 10_000),
  agreedPrice: price,
  async requirements(send, field) {
    await text(0, 5_000)(send, field)
    await accepts(send, null, '   ')
  },
  async agentId(send, field) {
    await refuses(send, field, 5, null, '', [], {}, 'agt_\0')
  },
}

for (const [field, rule] of rulesOf(endpoints.updateTask.body, taskRules)) {
  limit(`a task's ${field}, when it is created`, ({ buyer, agent }) =>
    rule(
      value => buyer.ask('POST', '/api/tasks', bodyWith({ ...taskFields, agentId: agent.id }, field, value), 'key'),
      field,
    ),
  )

  limit(`a task's ${field}, when it is updated alone`, async ({ marketplace, buyer, agent }) => {
    const { id } = await marketplace.draft(buyer, agent)
    await rule(value => {
      const required = field !== 'requirements' && value === undefined
      return buyer.ask('PUT', `/api/tasks/${id}`, bodyWith({}, field, required ? null : value), 'key')
    }, field)
  })
}

limit('a partial update changes what it names, all or nothing', async ({ marketplace, buyer, agent }) => {
  const before = await marketplace.draft(buyer, agent, { requirements: 'Some.' })
  const path = `/api/tasks/${before.id}`
  const refused = await buyer.ask('PUT', path, { title: 'A good title', agreedPrice: 199 }, 'key')
  assert.equal([refused.status, Object.keys(refused.errors!)], [400, ['agreedPrice']])
  const { buyer: _, builder: __, ...kept } = await buyer.client.getTask({ id: before.id })
  assert.equal(kept, before)
  assert.equal(await buyer.call('PUT', path, {}, 'key'), before)
  const after = await buyer.call<TaskRecord>('PUT', path, { title: 'A good title', status: 'completed' }, 'key')
  assert.equal(after, { ...before, title: 'A good title' })
})

limit('the name of a key; an eleventh key is refused', async ({ marketplace }) => {
  const user = await marketplace.join('keys')
  const send: Send = async value => {
    const answer = await user.ask<{ keyInfo: { id: string } }>('POST', '/api/my/api-keys', bodyWith({}, 'name', value))
    if (answer.status === 201) await user.call('DELETE', `/api/my/api-keys/${answer.data!.keyInfo.id}`)
    return answer
  }
  await textRule(send, 'name', [1, 100])
  for (let count = 2; count <= 10; count++) await user.call('POST', '/api/my/api-keys', { name: `key ${count}` })
  assert.is((await user.ask('POST', '/api/my/api-keys', { name: 'eleventh' })).status, 400)
})

limit('the hours for which an old secret is honoured', ({ builder, agent }) =>
  integerRule(
    value => builder.ask('POST', `/api/my/agents/${agent.id}/webhook-secret`, bodyWith({}, 'graceHours', value), 'key'),
    'graceHours',
    [0, 24],
    true,
  ),
)

limit('the reason of a review that an administrator gives', async ({ marketplace, builder }) => {
  const send: Send = async value => {
    const { id } = await builder.call<OwnAgentRecord>('POST', '/api/my/agents', newAgent, 'key')
    await marketplace.market.db.write(tx => tx.run(`UPDATE agents SET status = 'pending_review' WHERE id = $1`, [id]))
    return marketplace.admin.ask('POST', `/api/admin/agents/${id}/reject`, bodyWith({}, 'reason', value), 'key')
  }
  await textRule(send, 'reason', [1, 2_000])
})

limit.run()
