// engines: embedded, postgres at length; process: shared
/** Agents that hire agents with someone's budget, over the wire. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import type { BudgetRecord } from '../../../src/api/money-records.ts'
import type { TaskRecord } from '../../../src/api/records.ts'
import { verify } from '../../../src/api/signature.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
  taskFields,
} from '../../support/marketplace.ts'

const path = '/api/budget-authorizations'
const caps = { maxPerTask: 1_000, maxDaily: 2_000, maxMonthly: 3_000 }

/** The owner of a wallet authorizes the agent of a hirer, which hires the agent of a seller. */
async function open(fields: object = {}) {
  const marketplace = await openTestMarketplace()
  const owner = await marketplace.join('owner', 100_000)
  const [hirer, seller] = [await marketplace.join('hirer'), await marketplace.join('seller')]
  const [buying, selling] = [await marketplace.list(hirer), await marketplace.list(seller)]
  const budget = await owner.call<BudgetRecord>('POST', path, { agentId: buying.id, ...caps, ...fields })
  const hire = (more: object = {}, who = hirer) =>
    who.ask<TaskRecord>(
      'POST',
      '/api/tasks',
      { ...taskFields, agentId: selling.id, budgetAuthorizationId: budget.id, ...more },
      'key',
    )
  const submit = (id: string, who = hirer) => who.ask<TaskRecord>('POST', `/api/tasks/${id}/submit`, undefined, 'key')
  const buy = async (agreedPrice: number) => {
    const { id } = (await hire({ agreedPrice })).data!
    const { status, error } = await submit(id)
    return { id, status, error: error ?? '' }
  }
  const spent = async () => {
    const { spentToday, spentThisMonth } = await owner.call<BudgetRecord>(
      'GET',
      `${path}/${budget.id}`,
      undefined,
      'key',
    )
    return [spentToday, spentThisMonth]
  }
  return { marketplace, owner, hirer, seller, buying, selling, budget, hire, submit, buy, spent }
}

async function passDays(marketplace: TestMarketplace, agents: readonly ListedAgent[], days: number) {
  await marketplace.pass(days * durations.dayMs)
  await freshen(agents)
}

/** By key, as sessions end with the days. */
async function freshen(agents: readonly ListedAgent[]) {
  for (const { id, builder } of agents)
    await builder.call('POST', `/api/my/agents/${id}/test-connection`, undefined, 'key')
}

test('an agent hires with its owner’s money; the seller delivers to it, and it approves', async () => {
  const { marketplace, owner, hirer, seller, buying, selling, budget, hire, submit } = await open()
  const created = await hire()
  assert.is(created.status, 201)
  const { id, status, buyerId, buyerAgentId, budgetAuthorizationId, builderId } = created.data!
  assert.equal(
    { status, buyerId, buyerAgentId, budgetAuthorizationId, builderId },
    {
      status: 'draft',
      buyerId: owner.id,
      buyerAgentId: buying.id,
      budgetAuthorizationId: budget.id,
      builderId: seller.id,
    },
  )
  assert.is((await submit(id)).status, 200)
  assert.equal(await marketplace.balances(owner.id), { available: 99_000, held: 1_000, clearing: 0 })
  assert.is((await marketplace.callback(selling, id, { action: 'accept' })).status, 200)
  const content = 'The work of the seller'
  assert.is((await marketplace.callback(selling, id, { action: 'deliver', content, notes: 'n' })).status, 200)
  assert.is((await hirer.ask('POST', `/api/tasks/${id}/approve`)).status, 200)
  assert.equal(await marketplace.balances(seller.id), { available: 0, held: 0, clearing: 1_000 })
  await marketplace.webhooksSent()

  const requestor = { id: buying.id, type: 'agent', trustTier: 'new_verified' }
  assert.equal(
    selling.sink.received.map(({ event, data }) => [event, data.requestor]),
    [
      ['task.submitted', requestor],
      ['task.approved', requestor],
    ],
  )
  assert.is(buying.sink.received.length, 1)
  const { headers, event, timestamp, data } = buying.sink.received[0]!
  const now = new Date(marketplace.world.now()).toISOString()
  const task = await owner.call<TaskRecord>('GET', `/api/tasks/${id}`)
  assert.equal(
    { event, timestamp, data },
    {
      event: 'task.delivered_to_buyer',
      timestamp: now,
      data: {
        taskId: id,
        agentId: selling.id,
        title: taskFields.title,
        description: taskFields.description,
        requirements: '',
        agreedPrice: 1_000,
        status: 'delivered',
        callbackUrl: `${marketplace.url}/api/agent/tasks/${id}/callback`,
        requestor,
        deliverable: task.deliverable,
      },
    },
  )
  assert.is(task.deliverable!.content, content)
  const body = JSON.stringify({ event, timestamp, data })
  const signed = (secret: string) =>
    verify({
      secret: [secret],
      timestamp: headers['X-Service-Timestamp'],
      signature: headers['X-Service-Signature'],
      body: Buffer.from(body),
      now: marketplace.world.realNow(),
    }).ok
  assert.equal([signed(buying.secret), signed(selling.secret)], [true, false])
  await marketplace.checkLedger()
  await marketplace.close()
})

test('nothing but an agent’s purchase is told to a buying agent', async () => {
  const { marketplace, owner, buying, selling } = await open()
  const { id } = await marketplace.draft(owner, selling)
  await owner.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.callback(selling, id, { action: 'accept' })
  await marketplace.callback(selling, id, { action: 'deliver', content: 'x' })
  await marketplace.webhooksSent()
  assert.equal(buying.sink.received, [])
  assert.equal(selling.sink.received[0]!.data.requestor, { id: owner.id, type: 'user', trustTier: 'new_verified' })
  await marketplace.close()
})

test('the owner and the agent’s builder both act as the buyer, nobody else does', async () => {
  const { marketplace, owner, hirer, seller, selling, hire } = await open()
  const stranger = await marketplace.join('stranger')
  const walk = async (first: TestUser, second: TestUser) => {
    const { id } = (await hire({ agreedPrice: 200 })).data!
    const at = `/api/tasks/${id}`
    for (const who of [first, second]) {
      assert.is((await who.ask('PUT', at, { title: `By ${who.email}` })).status, 200)
      assert.is((await who.ask('GET', at)).status, 200)
    }
    const before = await marketplace.contents()
    for (const what of ['submit', 'cancel', 'approve', 'request-revision', 'dispute', 'messages', 'review']) {
      const words = { reason: 'Because of a test', content: 'Hello', rating: 4 }
      assert.is((await stranger.ask('POST', `${at}/${what}`, words)).status, 403, what)
    }
    assert.is((await stranger.ask('PUT', at, { title: 'Not mine' })).status, 403)
    assert.is((await stranger.ask('GET', at)).status, 403)
    assert.equal(await marketplace.contents(), before)
    await first.call('POST', `${at}/submit`)
    const { senderRole } = await second.call<{ senderRole: string }>('POST', `${at}/messages`, { content: 'Hello' })
    assert.is(senderRole, 'buyer')
    await marketplace.callback(selling, id, { action: 'accept' })
    await marketplace.callback(selling, id, { action: 'deliver', content: 'x' })
    await second.call('POST', `${at}/request-revision`, { reason: 'Again' })
    await marketplace.callback(selling, id, { action: 'deliver', content: 'y' })
    await first.call('POST', `${at}/approve`)
    await second.call('POST', `${at}/review`, { rating: 5 })
    const { dispute } = await first.call<TaskRecord>('POST', `${at}/dispute`, { reason: 'Because of a test' })
    assert.is(dispute!.openedBy, first.id)
    return id
  }
  const ids = [await walk(owner, hirer), await walk(hirer, owner)]
  const listed = async (who: TestUser, query = '') =>
    (await who.call<{ tasks: TaskRecord[] }>('GET', `/api/tasks${query}`)).tasks.map(task => task.id).sort()
  for (const who of [owner, hirer]) {
    assert.equal(await listed(who), ids)
    assert.equal(await listed(who, '?role=buyer'), ids)
    assert.equal(await listed(who, '?role=builder'), [])
  }
  assert.equal(await listed(seller, '?role=builder'), ids)
  assert.equal(await listed(stranger), [])
  await marketplace.close()
})

test('only the builder of the authorized agent hires with an authorization, and on create alone', async () => {
  const { marketplace, owner, hirer, seller, selling, hire } = await open()
  assert.is((await hire({}, owner)).status, 403)
  assert.is((await hire({}, seller)).status, 403)
  assert.is((await hire({ budgetAuthorizationId: 'bud_none' })).status, 404)
  assert.is((await hire({ budgetAuthorizationId: 7 })).status, 400)
  const plain = (await hire({ budgetAuthorizationId: null })).data!
  assert.equal([plain.buyerId, plain.buyerAgentId, plain.budgetAuthorizationId], [hirer.id, null, null])
  const { id, budgetAuthorizationId } = (await hire()).data!
  const kept = await hirer.call<TaskRecord>('PUT', `/api/tasks/${id}`, {
    budgetAuthorizationId: null,
    agreedPrice: 300,
  })
  assert.equal([kept.budgetAuthorizationId, kept.buyerId, kept.agentId], [budgetAuthorizationId, owner.id, selling.id])
  await marketplace.close()
})

test('an agent does not bring a third party’s money to its own builder', async () => {
  const { marketplace, owner, hirer, buying, hire, submit } = await open()
  const sibling = await marketplace.list(hirer)
  const refused = await hire({ agentId: sibling.id })
  assert.equal([refused.status, refused.success], [400, false])
  const { id } = (await hire()).data!
  assert.is((await hirer.ask('PUT', `/api/tasks/${id}`, { agentId: sibling.id })).status, 400)
  assert.is((await owner.ask('PUT', `/api/tasks/${id}`, { agentId: buying.id })).status, 400)
  assert.is((await submit(id)).status, 200)
  const own = await hirer.call<BudgetRecord>('POST', path, { agentId: buying.id, ...caps })
  const self = await hire({ agentId: sibling.id, budgetAuthorizationId: own.id })
  assert.is(self.status, 201, 'with the builder’s own money it may')
  const ownersAgent = await marketplace.list(owner)
  assert.is((await hire({ agentId: ownersAgent.id })).status, 201, 'an agent of the owner may be hired')
  await marketplace.close()
})

test('each cap holds to the cent and the refusal names it with its figures', async () => {
  const { marketplace, buying, selling, buy, spent } = await open()
  const over = await buy(1_001)
  assert.equal([over.status, /maxPerTask/.test(over.error)], [400, true])
  assert.ok(over.error.includes('10.00') && over.error.includes('10.01'), over.error)
  assert.is((await buy(1_000)).status, 200)
  assert.is((await buy(800)).status, 200)
  const day = await buy(201)
  assert.equal([day.status, /maxDaily/.test(day.error)], [400, true])
  for (const figure of ['20.00', '18.00', '2.01']) assert.ok(day.error.includes(figure), day.error)
  assert.is((await buy(200)).status, 200, 'exactly maxDaily')
  assert.equal(await spent(), [2_000, 2_000])
  await passDays(marketplace, [buying, selling], 1)
  assert.equal(await spent(), [0, 2_000])
  assert.is((await buy(801)).status, 200)
  const month = await buy(200)
  assert.equal([month.status, /maxMonthly/.test(month.error)], [400, true])
  for (const figure of ['30.00', '28.01', '2.00']) assert.ok(month.error.includes(figure), month.error)
  assert.equal(await spent(), [801, 2_801])
  await passDays(marketplace, [buying, selling], 30)
  assert.equal(await spent(), [0, 0])
  assert.is((await buy(1_000)).status, 200)
  await marketplace.close()
})

test('the day and the month end at midnight of UTC on the domain clock', async () => {
  const { marketplace, buying, selling, buy, spent } = await open({
    maxPerTask: 1_000,
    maxDaily: 1_000,
    maxMonthly: 1_500,
  })
  const start = Date.UTC(2026, 0, 31, 0, 0, 0)
  await marketplace.pass(start + durations.dayMs - 1 - marketplace.world.now())
  await freshen([buying, selling])
  assert.is((await buy(1_000)).status, 200)
  assert.is((await buy(200)).status, 400)
  assert.equal(await spent(), [1_000, 1_000])
  await marketplace.pass(1)
  assert.equal(await spent(), [0, 0])
  assert.is((await buy(1_000)).status, 200)
  await passDays(marketplace, [buying, selling], 1)
  assert.is((await buy(501)).status, 400)
  assert.is((await buy(500)).status, 200)
  await marketplace.close()
})

test('refunds give back what they refund: cancelled, rejected, split and reversed', async () => {
  const { marketplace, owner, hirer, selling, buy, spent } = await open({ maxDaily: 100_000, maxMonthly: 100_000 })
  const { id: cancelled } = await buy(1_000)
  assert.equal(await spent(), [1_000, 1_000])
  await owner.call('POST', `/api/tasks/${cancelled}/cancel`)
  assert.equal(await spent(), [0, 0])
  const { id: rejected } = await buy(900)
  await marketplace.callback(selling, rejected, { action: 'reject' })
  assert.equal(await spent(), [0, 0])
  const { id: split } = await buy(800)
  await marketplace.callback(selling, split, { action: 'accept' })
  await marketplace.admin.call('POST', `/api/admin/tasks/${split}/resolve`, { outcome: 'split', refundAmount: 300 })
  assert.equal(await spent(), [500, 500])
  const { id: reversed } = await buy(700)
  await marketplace.callback(selling, reversed, { action: 'accept' })
  await marketplace.callback(selling, reversed, { action: 'deliver', content: 'x' })
  await hirer.call('POST', `/api/tasks/${reversed}/approve`)
  assert.equal(await spent(), [1_200, 1_200])
  await hirer.call('POST', `/api/tasks/${reversed}/dispute`, { reason: 'Because of a test' })
  await marketplace.admin.call('POST', `/api/admin/tasks/${reversed}/resolve`, { outcome: 'refund' })
  assert.equal(await spent(), [500, 500])
  await marketplace.checkLedger()
  await marketplace.close()
})

test('caps may be lowered below what is spent; then nothing more goes', async () => {
  const { marketplace, owner, budget, buy, spent } = await open()
  await buy(1_000)
  await owner.call('PUT', `${path}/${budget.id}`, { maxPerTask: 200, maxDaily: 500, maxMonthly: 600 })
  assert.is((await buy(200)).status, 400)
  assert.equal(await spent(), [1_000, 1_000])
  await marketplace.close()
})

test('a paused, deleted or suspended authorization lets nothing through, and leaves no trace', async () => {
  const { marketplace, owner, budget, hire, submit } = await open()
  const { id } = (await hire()).data!
  const refused = async (status: number, words: RegExp) => {
    const before = await marketplace.contents()
    const answer = await submit(id)
    assert.is(answer.status, status, answer.error)
    assert.match(answer.error!, words)
    assert.equal(await marketplace.contents(), before)
  }
  await owner.call('POST', `${path}/${budget.id}/pause`)
  await refused(400, /paused/)
  await owner.call('POST', `${path}/${budget.id}/resume`)
  for (const flag of ['suspended', 'banned']) {
    await marketplace.admin.call('PUT', `/api/admin/users/${owner.id}`, { [flag]: true })
    await refused(403, /suspended or banned/)
    assert.is((await hire()).status, 403)
    await marketplace.admin.call('PUT', `/api/admin/users/${owner.id}`, { [flag]: false })
  }
  await owner.call('DELETE', `${path}/${budget.id}`)
  await refused(400, /deleted/)
  await marketplace.close()
})

test('one shared category is enough; none is refused with the categories', async () => {
  const { marketplace, owner, budget, hire, submit } = await open({ allowedCategories: ['cat_code', 'cat_data'] })
  const coder = await marketplace.list(await marketplace.join('coder'), { categoryIds: ['cat_design', 'cat_data'] })
  const { id } = (await hire()).data!
  const refused = await submit(id)
  assert.is(refused.status, 400)
  for (const word of ['cat_code', 'cat_data', 'cat_writing']) assert.ok(refused.error!.includes(word), refused.error)
  assert.is((await submit((await hire({ agentId: coder.id })).data!.id)).status, 200)
  await owner.call('PUT', `${path}/${budget.id}`, { allowedCategories: null })
  assert.is((await submit(id)).status, 200)
  await marketplace.close()
})

test('the wallet must hold the price too', async () => {
  const marketplace = await openTestMarketplace()
  const [owner, hirer] = [await marketplace.join('owner', 500), await marketplace.join('hirer')]
  const [buying, selling] = [await marketplace.list(hirer), await marketplace.list(await marketplace.join('seller'))]
  const { id: budgetAuthorizationId } = await owner.call<BudgetRecord>('POST', path, { agentId: buying.id, ...caps })
  const { id } = await marketplace.draft(hirer, selling, { agreedPrice: 600, budgetAuthorizationId })
  const refused = await hirer.ask('POST', `/api/tasks/${id}/submit`)
  assert.is(refused.status, 400)
  assert.match(refused.error!, '5.00')
  await marketplace.close()
})

test('delete is refused with active tasks: pending, in progress, delivered, in open dispute', async () => {
  const { marketplace, owner, hirer, selling, budget, buy } = await open({ maxDaily: 3_000 })
  const refused = async () => assert.is((await owner.ask('DELETE', `${path}/${budget.id}`)).status, 409)
  const { id } = await buy(1_000)
  await refused()
  await marketplace.callback(selling, id, { action: 'accept' })
  await refused()
  await marketplace.callback(selling, id, { action: 'deliver', content: 'x' })
  await refused()
  await hirer.call('POST', `/api/tasks/${id}/approve`)
  await hirer.call('POST', `/api/tasks/${id}/dispute`, { reason: 'Because of a test' })
  await refused()
  await marketplace.admin.call('POST', `/api/admin/tasks/${id}/resolve`, { outcome: 'release' })
  assert.is((await owner.ask('DELETE', `${path}/${budget.id}`)).status, 200)
  const { budgetAuthorizationId } = await owner.call<TaskRecord>('GET', `/api/tasks/${id}`)
  assert.is(budgetAuthorizationId, budget.id, 'the task still says what it was bought with')
  await marketplace.close()
})

test('of 20 parallel submits exactly as many pass as a cap allows', async () => {
  for (const [fields, passing] of [
    [{ maxPerTask: 300, maxDaily: 2_100, maxMonthly: 90_000 }, 7],
    [{ maxPerTask: 300, maxDaily: 2_000, maxMonthly: 2_000 }, 6],
  ] as const) {
    const { marketplace, owner, hirer, hire, submit, spent } = await open(fields)
    const drafts = []
    for (let i = 0; i < 20; i++) drafts.push((await hire({ agreedPrice: 300 })).data!.id)
    const answers = await Promise.all(drafts.map((id, i) => submit(id, i % 2 ? owner : hirer)))
    assert.is(answers.filter(({ status }) => status === 200).length, passing)
    assert.is(answers.filter(({ status }) => status === 400).length, 20 - passing)
    assert.equal(await spent(), [passing * 300, passing * 300])
    assert.is((await marketplace.balances(owner.id)).held, passing * 300)
    await marketplace.checkLedger()
    await marketplace.close()
  }
})

test('a delete among 19 parallel submits: either nothing was bought, or the authorization is still there', async () => {
  const { marketplace, owner, hirer, buying, selling, submit } = await open()
  const wide = { maxPerTask: 1_000, maxDaily: 90_000, maxMonthly: 90_000 }
  await owner.call('DELETE', `${path}/${(await owner.call<{ items: BudgetRecord[] }>('GET', path)).items[0]!.id}`)
  for (const ahead of [0, 1, 0, 5, 0, 18]) {
    const { id: budgetAuthorizationId } = await owner.call<BudgetRecord>('POST', path, { agentId: buying.id, ...wide })
    const drafts: string[] = []
    for (let i = 0; i < 19; i++) {
      drafts.push((await marketplace.draft(hirer, selling, { agreedPrice: 200, budgetAuthorizationId })).id)
    }
    const first = drafts.slice(0, ahead).map(id => submit(id))
    const removal = owner.ask('DELETE', `${path}/${budgetAuthorizationId}`)
    const answers = await Promise.all([...first, ...drafts.slice(ahead).map(id => submit(id))])
    const bought = answers.filter(({ status }) => status === 200).length
    const { status } = await removal
    assert.ok(status === 200 ? bought === 0 : status === 409 && bought === 19, `${status}, ${bought} bought`)
    assert.is((await marketplace.balances(owner.id)).held, bought * 200)
    for (const id of drafts) await owner.call('POST', `/api/tasks/${id}/cancel`)
    if (status === 409) await owner.call('DELETE', `${path}/${budgetAuthorizationId}`)
  }
  await marketplace.checkLedger()
  await marketplace.close()
})

test.run()
