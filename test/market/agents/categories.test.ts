// engines: embedded, postgres at length; process: shared
/** Categories over the wire: what administrators change, and how many agents are public in each. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CategoryRecord } from '../../../src/api/records.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

const path = '/api/admin/categories'
const fields = { name: 'Law & Tax', description: 'Contracts, forms and declarations' }

test('administrators add, change and delete categories; everyone sees them', async () => {
  const marketplace = await openTestMarketplace()
  const { admin, visitor } = marketplace
  const answer = await admin.ask<CategoryRecord>('POST', path, fields, 'key')
  assert.is(answer.status, 201)
  const made = answer.data!
  assert.equal(made, { id: made.id, ...fields, slug: 'law-tax', activeAgentCount: 0 })
  const all = () => visitor.call<CategoryRecord[]>('GET', '/api/categories')
  assert.equal(
    (await all()).filter(({ id }) => id === made.id),
    [made],
  )
  assert.is((await all()).length, 11)
  const renamed = await admin.call<CategoryRecord>('PUT', `${path}/${made.id}`, { name: 'Law' })
  assert.equal(renamed, { ...made, name: 'Law' })
  const moved = await admin.call<CategoryRecord>('PUT', `${path}/${made.id}`, { slug: 'law', description: 'Contracts' })
  assert.equal(moved, { ...renamed, slug: 'law', description: 'Contracts' })
  assert.equal(await admin.call('PUT', `${path}/${made.id}`, {}), moved)
  assert.equal(await admin.call('DELETE', `${path}/${made.id}`), { id: made.id })
  assert.is((await all()).length, 10)
  for (const method of ['PUT', 'DELETE'] as const)
    assert.is((await admin.ask(method, `${path}/${made.id}`, method === 'PUT' ? {} : undefined)).status, 404)
  await marketplace.close()
})

test('a name or slug that means another category, in any case, is a duplicate: 409', async () => {
  const marketplace = await openTestMarketplace()
  const { admin } = marketplace
  const made = await admin.call<CategoryRecord>('POST', path, fields)
  for (const change of [
    { name: 'WRITING' },
    { name: 'audio-video' },
    { slug: 'code' },
    { name: 'x y', slug: 'writing' },
  ]) {
    assert.is((await admin.ask('POST', path, { ...fields, ...change })).status, 409, JSON.stringify(change))
    assert.is((await admin.ask('PUT', `${path}/${made.id}`, change)).status, 409, JSON.stringify(change))
  }
  const twice = { name: 'Music', description: 'Songs' }
  const both = await Promise.all([1, 2, 3].map(() => admin.ask('POST', path, twice)))
  assert.equal(both.map(({ status }) => status).sort(), [201, 409, 409])
  await marketplace.close()
})

test('each field has its limits', async () => {
  const marketplace = await openTestMarketplace()
  const cases: readonly (readonly [object, string])[] = [
    [{ name: 'a' }, 'name'],
    [{ name: 'a'.repeat(101) }, 'name'],
    [{ name: undefined }, 'name'],
    [{ name: '书写' }, 'slug'],
    [{ slug: 'Law' }, 'slug'],
    [{ slug: 'a--b' }, 'slug'],
    [{ slug: 'a'.repeat(61) }, 'slug'],
    [{ description: '' }, 'description'],
    [{ description: 'a'.repeat(501) }, 'description'],
  ]
  for (const [change, fault] of cases) {
    const { status, errors } = await marketplace.admin.ask('POST', path, { ...fields, ...change })
    assert.equal([status, Object.keys(errors ?? {})], [400, [fault]], JSON.stringify(change))
  }
  const edges = [
    { name: 'ab', description: 'x' },
    { name: 'c'.repeat(100), description: 'x'.repeat(500) },
    { name: '书写', slug: 'z'.repeat(60), description: 'x' },
  ]
  for (const edge of edges) assert.is((await marketplace.admin.ask('POST', path, edge)).status, 201)
  await marketplace.close()
})

test('a category that an agent or an authorization names can’t be deleted: 409', async () => {
  const marketplace = await openTestMarketplace()
  const { admin } = marketplace
  const owner = await marketplace.join('owner')
  const agent = await marketplace.list(await marketplace.join('builder'), { categoryIds: ['cat_code', 'cat_data'] })
  const caps = { maxPerTask: 500, maxDaily: 500, maxMonthly: 500, allowedCategories: ['cat_media'] }
  const budget = await owner.call<{ id: string }>('POST', '/api/budget-authorizations', { agentId: agent.id, ...caps })
  const remove = async (id: string) => (await admin.ask('DELETE', `${path}/${id}`)).status
  assert.equal([await remove('cat_code'), await remove('cat_data'), await remove('cat_media')], [409, 409, 409])
  await owner.call('DELETE', `/api/budget-authorizations/${budget.id}`)
  assert.is(await remove('cat_media'), 200)
  await agent.builder.call('PUT', `/api/my/agents/${agent.id}`, { categoryIds: ['cat_data'] })
  assert.equal([await remove('cat_code'), await remove('cat_data')], [200, 409])
  await agent.builder.call('DELETE', `/api/my/agents/${agent.id}`)
  assert.is(await remove('cat_data'), 200)
  await marketplace.close()
})

test('nobody but an administrator changes categories', async () => {
  const marketplace = await openTestMarketplace()
  const user = await marketplace.join('member')
  for (const [method, rest] of [
    ['POST', ''],
    ['PUT', '/cat_code'],
    ['DELETE', '/cat_code'],
  ] as const) {
    const body = method === 'DELETE' ? undefined : fields
    assert.is((await marketplace.visitor.ask(method, path + rest, body)).status, 401)
    for (const by of ['key', 'session'] as const) assert.is((await user.ask(method, path + rest, body, by)).status, 403)
  }
  await marketplace.close()
})

test('activeAgentCount counts the agents that are public at this moment', async () => {
  const marketplace = await openTestMarketplace()
  const builder = await marketplace.join('builder')
  const both = await marketplace.list(builder, { categoryIds: ['cat_code', 'cat_data'] })
  const one = await marketplace.list(builder, { categoryIds: ['cat_code'] })
  await marketplace.stopHeartbeat()
  const counts = async () => {
    const all = await marketplace.visitor.call<CategoryRecord[]>('GET', '/api/categories')
    return ['cat_code', 'cat_data', 'cat_media'].map(id => all.find(row => row.id === id)!.activeAgentCount).join(' ')
  }
  assert.is(await counts(), '2 1 0')
  await builder.call('POST', `/api/my/agents/${both.id}/deactivate`)
  assert.is(await counts(), '1 0 0')
  await marketplace.pass(86_400_000)
  assert.is(await counts(), '1 0 0')
  await marketplace.pass(1)
  assert.is(await counts(), '0 0 0')
  await marketplace.freshen(one)
  await builder.call('PUT', `/api/my/agents/${one.id}`, { categoryIds: ['cat_media', 'cat_code'] })
  assert.is(await counts(), '1 0 1')
  await marketplace.admin.call('PUT', `/api/admin/users/${builder.id}`, { suspended: true })
  assert.is(await counts(), '0 0 0')
  await marketplace.close()
})

test.run()
