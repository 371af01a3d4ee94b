// engines: embedded, postgres at length; process: shared
/** What agents may know of a buyer, over the wire. Source: I-requestors, A-27. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import type { BudgetRecord } from '../../../src/api/money-records.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

interface History {
  items: { taskId: string; status: string; agreedPrice: number; completedAt: string | null; rating: number | null }[]
  pagination: { total: number }
}

const reputation = (who: TestUser, id: string) =>
  who.call<Record<string, unknown>>('GET', `/api/agent/requestors/${id}/reputation`, undefined, 'key')

const history = (who: TestUser, id: string, query = '') =>
  who.call<History>('GET', `/api/agent/requestors/${id}/history${query}`, undefined, 'key')

/** A task on its way: submitted, and further as far as it says. */
async function walk(
  marketplace: TestMarketplace,
  buyer: TestUser,
  agent: ListedAgent,
  to: string,
  fields: object = {},
) {
  const { id } = await marketplace.draft(buyer, agent, { agreedPrice: 200, ...fields })
  const post = (what: string, body?: object) => buyer.call('POST', `/api/tasks/${id}/${what}`, body)
  if (to === 'draft') return id
  await post('submit')
  if (to === 'pending') return id
  if (to === 'rejected') await marketplace.callback(agent, id, { action: 'reject' })
  if (to === 'cancelled') await post('cancel')
  if (to === 'rejected' || to === 'cancelled') return id
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.callback(agent, id, { action: 'deliver', content: 'x' })
  await post('approve')
  return id
}

const dispute = (who: TestUser, id: string) =>
  who.call('POST', `/api/tasks/${id}/dispute`, { reason: 'Because of a test' })

const resolve = (marketplace: TestMarketplace, id: string, outcome: string) =>
  marketplace.admin.call('POST', `/api/admin/tasks/${id}/resolve`, {
    outcome,
    ...(outcome === 'split' && { refundAmount: 100 }),
  })

test('reputation counts what was submitted to others; drafts and one’s own agents count for nothing', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, seller] = [await marketplace.join('buyer', 50_000), await marketplace.join('seller')]
  const agent = await marketplace.list(seller)
  const own = await marketplace.list(buyer)
  const nothing = {
    userId: buyer.id,
    trustTier: 'new_verified',
    memberSince: new Date(marketplace.world.now()).toISOString(),
    tasksSubmitted: 0,
    tasksCompleted: 0,
    tasksCancelled: 0,
    disputesOpened: 0,
    disputesLost: 0,
    averageRatingGiven: null,
    completionRate: null,
  }
  await walk(marketplace, buyer, agent, 'draft')
  const dropped = await walk(marketplace, buyer, agent, 'draft')
  await buyer.call('POST', `/api/tasks/${dropped}/cancel`)
  const self = await walk(marketplace, buyer, own, 'completed')
  await buyer.call('POST', `/api/tasks/${self}/review`, { rating: 5 })
  await dispute(buyer, self)
  await resolve(marketplace, self, 'release')
  assert.equal(await reputation(seller, buyer.id), nothing)

  for (const to of ['pending', 'rejected', 'cancelled']) await walk(marketplace, buyer, agent, to)
  const done: string[] = []
  for (let i = 0; i < 4; i++) done.push(await walk(marketplace, buyer, agent, 'completed'))
  for (const [i, rating] of [5, 4, 4].entries()) await buyer.call('POST', `/api/tasks/${done[i]}/review`, { rating })
  for (const id of done) await dispute(buyer, id)
  await resolve(marketplace, done[0]!, 'release')
  await resolve(marketplace, done[1]!, 'split')
  await resolve(marketplace, done[2]!, 'refund')
  assert.equal(await reputation(seller, buyer.id), {
    ...nothing,
    tasksSubmitted: 7,
    tasksCompleted: 3,
    tasksCancelled: 3,
    disputesOpened: 4,
    disputesLost: 1,
    averageRatingGiven: 4.33,
    completionRate: 0.5,
  })
  const pending = await walk(marketplace, buyer, agent, 'pending')
  await marketplace.callback(agent, pending, { action: 'accept' })
  await resolve(marketplace, pending, 'release')
  const { disputesOpened, disputesLost } = await reputation(seller, buyer.id)
  assert.equal([disputesOpened, disputesLost], [4, 1], 'what an administrator opened is not the buyer’s')
  await marketplace.close()
})

test('trust tiers: each by its rule, the first that fits', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, seller] = [await marketplace.join('buyer'), await marketplace.join('seller')]
  const set = (fields: object) => marketplace.admin.call('PUT', `/api/admin/users/${buyer.id}`, fields, 'key')
  const is = async (tier: string) => assert.is((await reputation(seller, buyer.id)).trustTier, tier)
  await is('new_verified')
  await set({ identityVerified: false })
  await is('new_unverified')
  await marketplace.pass(30 * durations.dayMs)
  await is('new_unverified')
  await marketplace.pass(1)
  await is('trusted')
  await set({ chargebacks: 1 })
  await is('chargeback_risk')
  await set({ suspended: true })
  await is('suspended')
  await set({ banned: true })
  await is('banned')
  await marketplace.close()
})

test('history lists a buyer’s tasks with the calling builder’s agents', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, seller, other] = [
    await marketplace.join('buyer', 50_000),
    await marketplace.join('seller'),
    await marketplace.join('other'),
  ]
  const [first, second, third] = [
    await marketplace.list(seller),
    await marketplace.list(seller),
    await marketplace.list(other),
  ]
  const reviewed = await walk(marketplace, buyer, first, 'completed', { agreedPrice: 700 })
  await buyer.call('POST', `/api/tasks/${reviewed}/review`, { rating: 4 })
  const pending = await walk(marketplace, buyer, second, 'pending')
  await walk(marketplace, buyer, first, 'draft')
  const elsewhere = await walk(marketplace, buyer, third, 'pending')
  const now = new Date(marketplace.world.now()).toISOString()
  const { items, pagination } = await history(seller, buyer.id)
  assert.is(pagination.total, 2)
  const past = { title: 'A task of a test', createdAt: now }
  assert.equal(items, [
    { taskId: pending, ...past, status: 'pending', agreedPrice: 200, completedAt: null, rating: null },
    { taskId: reviewed, ...past, status: 'completed', agreedPrice: 700, completedAt: now, rating: 4 },
  ])
  const ids = async (query: string) => (await history(seller, buyer.id, query)).items.map(item => item.taskId)
  assert.equal(await ids(`?agentId=${first.id}`), [reviewed])
  assert.equal(await ids(`?agentId=${third.id}`), [])
  assert.equal(await ids('?limit=1&page=2'), [reviewed])
  assert.equal(
    (await history(other, buyer.id)).items.map(item => item.taskId),
    [elsewhere],
  )
  assert.equal((await history(seller, other.id)).items, [])
  await marketplace.close()
})

test('a buying agent’s id answers for its payer, as the webhook does, with that agent’s tasks alone', async () => {
  const marketplace = await openTestMarketplace()
  const [owner, hirer, seller] = [
    await marketplace.join('owner', 50_000),
    await marketplace.join('hirer', 50_000),
    await marketplace.join('seller'),
  ]
  const [buying, idle, selling] = [
    await marketplace.list(hirer),
    await marketplace.list(hirer),
    await marketplace.list(seller),
  ]
  const caps = { maxPerTask: 1_000, maxDaily: 5_000, maxMonthly: 5_000 }
  const grant = (who: TestUser) =>
    who.call<BudgetRecord>('POST', '/api/budget-authorizations', { agentId: buying.id, ...caps })
  const [granted, own] = [await grant(owner), await grant(hirer)]
  await walk(marketplace, hirer, selling, 'draft', { budgetAuthorizationId: granted.id })
  const path = `/api/agent/requestors/${buying.id}`
  assert.is((await seller.ask('GET', `${path}/reputation`, undefined, 'key')).status, 404, 'it has bought nothing yet')
  const bought = [
    await walk(marketplace, hirer, selling, 'completed', { budgetAuthorizationId: granted.id }),
    await walk(marketplace, hirer, selling, 'cancelled', { budgetAuthorizationId: own.id }),
  ]
  await walk(marketplace, hirer, selling, 'pending')
  const known = await reputation(seller, buying.id)
  assert.equal([known.userId, known.tasksSubmitted, known.tasksCompleted, known.completionRate], [hirer.id, 2, 1, 0.5])
  const other = await marketplace.join('other')
  const elsewhere = await marketplace.list(other)
  await marketplace.admin.call('PUT', `/api/admin/users/${owner.id}`, { chargebacks: 1 })
  await marketplace.pass(1)
  const paid = await walk(marketplace, hirer, elsewhere, 'pending', { budgetAuthorizationId: granted.id })
  await marketplace.webhooksSent()
  const { requestor } = elsewhere.sink.received.at(-1)!.data as unknown as {
    requestor: { id: string; trustTier: string }
  }
  const told = await reputation(other, buying.id)
  assert.equal([requestor.id, requestor.trustTier], [buying.id, 'chargeback_risk'])
  assert.equal([told.userId, told.trustTier, told.tasksSubmitted], [owner.id, requestor.trustTier, 3])
  assert.is(told.memberSince, (await reputation(other, owner.id)).memberSince)
  assert.is((await reputation(seller, buying.id)).userId, hirer.id, 'whoever paid for the task that one was asked for')
  assert.is((await reputation(await marketplace.join('stranger'), buying.id)).userId, owner.id, 'else for the latest')
  bought.push(paid)
  assert.equal(
    (await history(seller, buying.id)).items.map(item => item.taskId),
    bought.slice(0, 2).reverse(),
  )
  assert.is((await reputation(seller, owner.id)).tasksSubmitted, 2)
  assert.is((await reputation(seller, hirer.id)).tasksSubmitted, 2)
  for (const id of [idle.id, 'usr_none', 'agt_none']) {
    for (const what of ['reputation', 'history']) {
      const answer = await seller.ask('GET', `/api/agent/requestors/${id}/${what}`, undefined, 'key')
      assert.is(answer.status, 404, `${what} of ${id}`)
    }
  }
  await marketplace.close()
})

test('both take a builder’s key and nothing else', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer')
  for (const what of ['reputation', 'history']) {
    const path = `/api/agent/requestors/${buyer.id}/${what}`
    assert.is((await buyer.ask('GET', path, undefined, 'session')).status, 401)
    assert.is((await marketplace.visitor.ask('GET', path)).status, 401)
    assert.is((await buyer.ask('GET', path, undefined, 'key')).status, 200)
  }
  await buyer.call('PUT', '/api/auth/me', { isBuilder: false })
  const answer = await buyer.ask('GET', `/api/agent/requestors/${buyer.id}/history`, undefined, 'key')
  assert.is(answer.status, 403)
  await marketplace.close()
})

test.run()
