// engines: embedded, postgres at length; process: shared
/** Accounts in the hands of administrators, and what follows at once, over the wire. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AgentRecord, UserRecord } from '../../../src/api/records.ts'
import type { List } from '../../support/lists.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'

const setter =
  (marketplace: TestMarketplace, by: 'key' | 'session' = 'key') =>
  (who: Pick<TestUser, 'id'>, fields: object) =>
    marketplace.admin.ask<Record<string, unknown>>('PUT', `/api/admin/users/${who.id}`, fields, by)

test('an administrator sees the whole standing of an account and changes any part of it', async () => {
  const marketplace = await openTestMarketplace()
  const user = await marketplace.join('member')
  const set = setter(marketplace)
  const record = {
    id: user.id,
    email: user.email,
    name: 'member',
    isBuilder: true,
    isAdmin: false,
    trustTier: 'new_verified',
    createdAt: new Date(marketplace.world.now()).toISOString(),
    suspended: false,
    banned: false,
    identityVerified: true,
    chargebacks: 0,
    connectStatus: 'not_connected',
  }
  assert.equal((await set(user, {})).data, record)
  const connected = { connectStatus: 'connected', chargebacks: 2 }
  assert.equal((await set(user, connected)).data, { ...record, ...connected, trustTier: 'chargeback_risk' })
  assert.equal((await set(user, { chargebacks: 0 })).data, { ...record, connectStatus: 'connected' })
  const before = await marketplace.contents()
  for (const [fields, wrong] of [
    [{ suspended: 1 }, 'suspended'],
    [{ banned: 'true' }, 'banned'],
    [{ identityVerified: null }, 'identityVerified'],
    [{ isBuilder: 0 }, 'isBuilder'],
    [{ chargebacks: -1 }, 'chargebacks'],
    [{ chargebacks: 0.5 }, 'chargebacks'],
    [{ connectStatus: 'done' }, 'connectStatus'],
  ] as const) {
    const { status, errors } = await set(user, fields)
    assert.equal([status, Object.keys(errors ?? {})], [400, [wrong]], JSON.stringify(fields))
  }
  assert.is((await set({ id: 'usr_none' }, {})).status, 404)
  assert.is((await user.ask('PUT', `/api/admin/users/${user.id}`, { chargebacks: 0 })).status, 403)
  assert.is((await marketplace.visitor.ask('PUT', `/api/admin/users/${user.id}`, {})).status, 401)
  assert.equal(await marketplace.contents(), before)
  await marketplace.close()
})

test('an administrator can’t ban themself', async () => {
  const marketplace = await openTestMarketplace()
  const { status, errors } = await setter(marketplace)(marketplace.admin, { banned: true })
  assert.equal([status, Object.keys(errors!)], [400, ['banned']])
  assert.is((await setter(marketplace)(marketplace.admin, { banned: false })).status, 200)
  assert.is((await marketplace.admin.ask('GET', '/api/auth/me')).status, 200)
  await marketplace.close()
})

test('lists of everything are for administrators, page by page', async () => {
  const marketplace = await openTestMarketplace()
  const [first, second] = [await marketplace.join('first'), await marketplace.join('second')]
  const { items, pagination } = await marketplace.admin.call<List<UserRecord>>(
    'GET',
    '/api/admin/users?limit=2',
    undefined,
    'key',
  )
  assert.equal(
    items.map(user => user.id),
    [marketplace.admin.id, first.id],
  )
  assert.equal([pagination.total, pagination.totalPages, pagination.hasMore], [3, 2, true])
  const rest = await marketplace.admin.call<List<UserRecord>>('GET', '/api/admin/users?limit=2&page=2')
  assert.equal(
    rest.items.map(user => user.id),
    [second.id],
  )
  for (const list of ['users', 'agents', 'tasks', 'deposits', 'withdrawals', 'ledger/check']) {
    assert.is((await first.ask('GET', `/api/admin/${list}`)).status, 403, list)
    assert.is((await marketplace.visitor.ask('GET', `/api/admin/${list}`)).status, 401, list)
    assert.is((await marketplace.admin.ask('GET', `/api/admin/${list}`, undefined, 'key')).status, 200, list)
  }
  for (const query of ['agents?status=open', 'tasks?disputed=yes', 'deposits?status=done', 'users?limit=0']) {
    assert.is((await marketplace.admin.ask('GET', `/api/admin/${query}`)).status, 400, query)
  }
  await marketplace.close()
})

test('a ban acts at once: session, key, login, callbacks, agents; its end gives all back', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  const { email, password } = builder
  const shown = async () => {
    const list = await buyer.call<List<AgentRecord>>('GET', '/api/agents')
    return [list.pagination.total, (await buyer.ask('GET', `/api/agents/${agent.id}`)).status]
  }
  assert.equal(await shown(), [1, 200])
  await setter(marketplace)(builder, { banned: true })
  assert.is((await builder.ask('GET', '/api/auth/me')).status, 403)
  assert.is((await builder.ask('GET', '/api/my/agents', undefined, 'key')).status, 403)
  assert.is((await builder.ask('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')).status, 403)
  assert.is((await marketplace.visitor.ask('POST', '/api/auth/login', { email, password })).status, 403)
  assert.is((await marketplace.visitor.ask('POST', '/api/auth/login', { email, password: 'wrong' })).status, 401)
  assert.is((await marketplace.callback(agent, id, { action: 'accept' })).status, 403)
  assert.is((await marketplace.callback({ secret: 'whsec_wrong' }, id, { action: 'accept' })).status, 401)
  assert.equal(await shown(), [0, 404])
  await setter(marketplace)(builder, { banned: false })
  assert.is((await builder.ask('GET', '/api/auth/me')).status, 200)
  assert.is((await builder.ask('GET', '/api/my/agents', undefined, 'key')).status, 200)
  assert.equal(await shown(), [1, 200])
  assert.is((await marketplace.callback(agent, id, { action: 'accept' })).status, 200)
  await marketplace.close()
})

test('a suspended account starts nothing new, but finishes what is open', async () => {
  const marketplace = await openTestMarketplace()
  const [user, other] = [await marketplace.join('member', 20_000), await marketplace.join('other', 20_000)]
  const [mine, theirs] = [await marketplace.list(user), await marketplace.list(other)]
  await user.call('POST', '/api/wallet/connect')
  const draft = await marketplace.draft(user, theirs)
  const bought = await marketplace.draft(user, theirs)
  const sold = [await marketplace.draft(other, mine), await marketplace.draft(other, mine)]
  for (const { id } of sold) await other.call('POST', `/api/tasks/${id}/submit`)
  await user.call('POST', `/api/tasks/${bought.id}/submit`)
  await setter(marketplace)(user, { suspended: true })

  const before = await marketplace.contents()
  const caps = { maxPerTask: 200, maxDaily: 200, maxMonthly: 200 }
  for (const [path, body] of [
    ['/api/tasks', { agentId: theirs.id, title: 'A task', description: 'x'.repeat(20), agreedPrice: 200 }],
    [`/api/tasks/${draft.id}/submit`],
    ['/api/my/agents', {}],
    ['/api/my/api-keys', { name: 'one more' }],
    ['/api/budget-authorizations', { agentId: theirs.id, ...caps }],
    ['/api/wallet/deposit', { amount: 200 }],
    ['/api/wallet/withdraw', { amount: 200 }],
  ] as const) {
    assert.is((await user.ask('POST', path, body)).status, 403, path)
  }
  assert.equal(await marketplace.contents(), before)
  assert.is((await marketplace.visitor.ask('GET', `/api/agents/${mine.id}`)).status, 404, 'hidden at once')

  const post = (path: string, body?: object) => user.ask('POST', path, body)
  assert.is((await post(`/api/agent/tasks/${sold[0]!.id}/reject`)).status, 401, 'a session is no key')
  assert.is((await user.ask('POST', `/api/agent/tasks/${sold[0]!.id}/reject`, {}, 'key')).status, 200)
  assert.is((await marketplace.callback(mine, sold[1]!.id, { action: 'accept' })).status, 200)
  assert.is((await post(`/api/tasks/${sold[1]!.id}/deliver`, { content: 'x' })).status, 200)
  assert.is((await post(`/api/tasks/${bought.id}/messages`, { content: 'x' })).status, 201)
  await marketplace.callback(theirs, bought.id, { action: 'accept' })
  await marketplace.callback(theirs, bought.id, { action: 'deliver', content: 'x' })
  assert.is((await post(`/api/tasks/${bought.id}/approve`)).status, 200)
  assert.is((await post(`/api/tasks/${bought.id}/dispute`, { reason: 'Because of a test' })).status, 200)
  assert.is((await post(`/api/tasks/${draft.id}/cancel`)).status, 200)
  const passwords = { currentPassword: user.password, newPassword: 'another password' }
  assert.is((await post('/api/auth/password', passwords)).status, 200)
  assert.is((await post('/api/auth/logout')).status, 200)
  await marketplace.checkLedger()
  await marketplace.close()
})

test('the builder role stays while own agents have active tasks; without it the keys rest', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  const leave = () => builder.ask('PUT', '/api/auth/me', { isBuilder: false })
  const refused = async (state: string) => {
    const before = await marketplace.contents()
    assert.is((await leave()).status, 409, state)
    assert.is((await setter(marketplace)(builder, { isBuilder: false })).status, 409, state)
    assert.is((await builder.ask('PUT', '/api/auth/me', { name: 'another', isBuilder: false })).status, 409, state)
    assert.equal(await marketplace.contents(), before)
  }
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await refused('pending')
  await marketplace.callback(agent, id, { action: 'accept' })
  await refused('in progress')
  await marketplace.callback(agent, id, { action: 'deliver', content: 'x' })
  await refused('delivered')
  await buyer.call('POST', `/api/tasks/${id}/approve`)
  await buyer.call('POST', `/api/tasks/${id}/dispute`, { reason: 'Because of a test' })
  await refused('completed, in open dispute')
  await marketplace.admin.call('POST', `/api/admin/tasks/${id}/resolve`, { outcome: 'release' })
  assert.is((await leave()).status, 200)

  for (const path of ['/api/auth/me', '/api/tasks', '/api/wallet', '/api/my/agents', '/api/budget-authorizations']) {
    assert.is((await builder.ask('GET', path, undefined, 'key')).status, 403, path)
  }
  assert.is((await builder.ask('POST', '/api/wallet/connect', undefined, 'key')).status, 403)
  for (const path of ['/api/auth/me', '/api/tasks', '/api/wallet', '/api/budget-authorizations']) {
    assert.is((await builder.ask('GET', path)).status, 200, path)
  }
  for (const path of ['/api/my/agents', '/api/my/api-keys', '/api/my/earnings']) {
    assert.is((await builder.ask('GET', path)).status, 403, path)
  }
  assert.is((await builder.ask('PUT', '/api/auth/me', { isBuilder: true })).status, 200)
  assert.is((await builder.ask('GET', '/api/my/agents', undefined, 'key')).status, 200, 'the same keys work again')
  assert.is((await setter(marketplace)(builder, { isBuilder: false })).status, 200)
  assert.is((await builder.ask('GET', '/api/tasks', undefined, 'key')).status, 403)
  await marketplace.close()
})

test.run()
