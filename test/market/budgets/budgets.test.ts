// engines: embedded, postgres and narrow at length; process: shared
/** Budget authorizations, over the wire. Source: I-budget-input, I-budgets, I-duplicate, A-36. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { BudgetRecord } from '../../../src/api/money-records.ts'
import type { List } from '../../support/lists.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

const path = '/api/budget-authorizations'
const caps = { maxPerTask: 1_000, maxDaily: 2_000, maxMonthly: 3_000 }

async function open() {
  const marketplace = await openTestMarketplace()
  const [owner, builder, stranger] = [
    await marketplace.join('owner', 10_000),
    await marketplace.join('builder'),
    await marketplace.join('stranger'),
  ]
  const agent = await marketplace.list(builder)
  const grant = (fields: object = {}) =>
    owner.ask<BudgetRecord>('POST', path, { agentId: agent.id, ...caps, ...fields }, 'key')
  return { marketplace, owner, builder, stranger, agent, grant }
}

test('create answers 201 and the whole record; a second one for the agent is a conflict', async () => {
  const { marketplace, owner, builder, stranger, agent, grant } = await open()
  const { status, data } = await grant({ allowedCategories: ['cat_code', 'cat_writing'] })
  assert.is(status, 201)
  const now = new Date(marketplace.world.now()).toISOString()
  assert.equal(data, {
    id: data!.id,
    agentId: agent.id,
    agent: { id: agent.id, slug: 'test-writer', name: 'Test Writer' },
    ...caps,
    allowedCategories: ['cat_code', 'cat_writing'],
    status: 'active',
    spentToday: 0,
    spentThisMonth: 0,
    createdAt: now,
    updatedAt: now,
  })
  assert.is((await grant()).status, 409)
  const other = { agentId: agent.id, ...caps }
  assert.is((await stranger.ask('POST', path, other)).status, 201, 'another owner may')
  assert.is((await builder.ask('POST', path, other)).status, 201, 'an own agent may be authorized')
  assert.is((await owner.call<List<BudgetRecord>>('GET', path)).pagination.total, 1)
  await marketplace.close()
})

test('only one of 20 parallel creates for an agent succeeds', async () => {
  const { marketplace, grant } = await open()
  const answers = await Promise.all(Array.from({ length: 20 }, () => grant()))
  assert.equal(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(409)])
  await marketplace.close()
})

test('caps are at least 200 each and in order; the error stands on the smaller field', async () => {
  const { marketplace, grant } = await open()
  for (const [fields, wrong] of [
    [{ maxPerTask: 199 }, ['maxPerTask']],
    [{ maxDaily: 199 }, ['maxDaily']],
    [{ maxMonthly: 199 }, ['maxMonthly']],
    [{ maxPerTask: '200' }, ['maxPerTask']],
    [{ maxPerTask: 1_000_000_000_001 }, ['maxPerTask']],
    [{ maxDaily: undefined }, ['maxDaily']],
    [{ agentId: undefined }, ['agentId']],
    [{ maxPerTask: 2_001 }, ['maxPerTask']],
    [{ maxDaily: 3_001 }, ['maxDaily']],
    [{ maxPerTask: 900, maxDaily: 800, maxMonthly: 700 }, ['maxDaily', 'maxPerTask']],
    [{ allowedCategories: [] }, ['allowedCategories']],
    [{ allowedCategories: ['cat_code', 'cat_code'] }, ['allowedCategories']],
    [{ allowedCategories: ['cat_none'] }, ['allowedCategories']],
    [{ allowedCategories: 'cat_code' }, ['allowedCategories']],
  ] as const) {
    const { status, error, errors } = await grant(fields)
    assert.equal([status, error], [400, 'Validation failed'], JSON.stringify(fields))
    assert.equal(Object.keys(errors!).sort(), wrong)
  }
  const all = 1_000_000_000_000
  const equal = await grant({ maxPerTask: 200, maxDaily: 200, maxMonthly: 200, allowedCategories: null })
  assert.is(equal.status, 201)
  assert.is(equal.data!.allowedCategories, null)
  await marketplace.close()
  const again = await open()
  assert.is((await again.grant({ maxPerTask: all, maxDaily: all, maxMonthly: all })).status, 201)
  await again.marketplace.close()
})

test('an agent that is neither public nor one’s own is not found', async () => {
  const { marketplace, owner, builder, grant } = await open()
  const draft = { name: 'A draft', tagline: 'Not for sale at all', description: 'x'.repeat(50), pricingModel: 'fixed' }
  const { id } = await builder.call<{ id: string }>('POST', '/api/my/agents', {
    ...draft,
    basePrice: 200,
    categoryIds: ['cat_code'],
  })
  assert.is((await grant({ agentId: id })).status, 404)
  assert.is((await grant({ agentId: 'agt_none' })).status, 404)
  assert.is((await builder.ask('POST', path, { agentId: id, ...caps })).status, 201)
  await marketplace.admin.call('PUT', `/api/admin/users/${owner.id}`, { suspended: true })
  assert.is((await grant()).status, 403)
  await marketplace.close()
})

test('update takes any part, checks it against what is stored, and never moves to another agent', async () => {
  const { marketplace, owner, agent, grant } = await open()
  const { id } = (await grant()).data!
  const put = (fields: object) => owner.ask<BudgetRecord>('PUT', `${path}/${id}`, fields)
  for (const [fields, wrong] of [
    [{ maxPerTask: 2_001 }, 'maxPerTask'],
    [{ maxDaily: 3_001 }, 'maxDaily'],
    [{ maxDaily: 999 }, 'maxPerTask'],
    [{ maxMonthly: 1_999 }, 'maxDaily'],
    [{ maxMonthly: 199 }, 'maxMonthly'],
    [{ agentId: 'agt_other' }, 'agentId'],
    [{ allowedCategories: [] }, 'allowedCategories'],
  ] as const) {
    const { status, errors } = await put(fields)
    assert.equal([status, Object.keys(errors!)], [400, [wrong]], JSON.stringify(fields))
  }
  const {
    createdAt: _,
    updatedAt: before,
    agent: named,
    ...same
  } = await owner.call<BudgetRecord>('GET', `${path}/${id}`)
  assert.equal(same, { id, agentId: agent.id, ...caps, allowedCategories: null, status: 'active', ...unspent })
  assert.equal(named, { id: agent.id, slug: 'test-writer', name: 'Test Writer' })
  await marketplace.pass(1_000)
  const changed = await put({ agentId: agent.id, maxDaily: 3_000, allowedCategories: ['cat_code'] })
  assert.is(changed.status, 200)
  const { maxDaily, allowedCategories, maxPerTask, updatedAt } = changed.data!
  assert.equal(
    { maxDaily, allowedCategories, maxPerTask },
    { maxDaily: 3_000, allowedCategories: ['cat_code'], maxPerTask: 1_000 },
  )
  assert.ok(updatedAt > before)
  assert.equal((await put({ maxPerTask: 3_000 })).data!.allowedCategories, ['cat_code'], 'what is left out stays')
  assert.is((await put({ allowedCategories: null })).data!.allowedCategories, null)
  await marketplace.close()
})

const unspent = { spentToday: 0, spentThisMonth: 0 }

test('pause and resume take turns; out of turn is 400', async () => {
  const { marketplace, owner, grant } = await open()
  const { id } = (await grant()).data!
  const post = (what: string) => owner.ask<BudgetRecord>('POST', `${path}/${id}/${what}`)
  assert.is((await post('resume')).status, 400)
  assert.is((await post('pause')).data!.status, 'paused')
  const before = await marketplace.contents()
  assert.is((await post('pause')).status, 400)
  assert.equal(await marketplace.contents(), before)
  assert.is((await post('resume')).data!.status, 'active')
  await marketplace.close()
})

test('what belongs to someone else is 403, what is not there 404; the agent’s builder may look', async () => {
  const { marketplace, owner, builder, stranger, grant } = await open()
  const { id } = (await grant()).data!
  const before = await marketplace.contents()
  const calls = [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
  ] as const
  for (const [method, more] of calls) {
    const body = method === 'PUT' ? { maxDaily: 1_500 } : undefined
    assert.is((await stranger.ask(method, `${path}/${id}${more}`, body)).status, 403, method)
    assert.is((await marketplace.admin.ask(method, `${path}/${id}${more}`, body)).status, 403, method)
    assert.is((await marketplace.visitor.ask(method, `${path}/${id}${more}`, body)).status, 401, method)
    assert.is((await owner.ask(method, `${path}/bud_none${more}`, body)).status, 404, method)
    assert.is((await builder.ask(method, `${path}/${id}${more}`, body)).status, method === 'GET' ? 200 : 403)
  }
  assert.equal(await marketplace.contents(), before)
  assert.equal((await owner.ask('DELETE', `${path}/${id}`)).data, { id })
  assert.is((await owner.ask('GET', `${path}/${id}`)).status, 404)
  assert.is((await grant()).status, 201, 'after a delete there may be a new one')
  await marketplace.close()
})

test('lists: an owner’s own; with role=agent what the agents of a builder were granted', async () => {
  const { marketplace, owner, builder, stranger, agent, grant } = await open()
  const { id } = (await grant({ allowedCategories: ['cat_code'] })).data!
  const second = await marketplace.list(builder)
  const { id: otherId } = await stranger.call<BudgetRecord>('POST', path, { agentId: second.id, ...caps })
  const ids = async (who: typeof owner, query = '') =>
    (await who.call<List<BudgetRecord>>('GET', path + query)).items.map(item => item.id)
  assert.equal(await ids(owner), [id])
  assert.equal(await ids(owner, '?role=owner'), [id])
  assert.equal(await ids(owner, '?role=agent'), [])
  assert.equal(await ids(builder), [])
  assert.equal(await ids(builder, '?role=agent'), [id, otherId])
  assert.equal(await ids(builder, '?role=agent&limit=1&page=2'), [otherId])
  const [first] = (await builder.call<List<BudgetRecord>>('GET', `${path}?role=agent`)).items
  assert.equal([first!.agentId, first!.allowedCategories], [agent.id, ['cat_code']])
  const refused = await owner.ask('GET', `${path}?role=buyer`)
  assert.equal([refused.status, Object.keys(refused.errors!)], [400, ['role']])
  assert.is((await owner.ask('GET', `${path}?limit=101`)).status, 400)
  await marketplace.close()
})

test.run()
