// engines: embedded, postgres at length; process: shared
/** What people are told, word by word, where the words are all that they have. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import type { TransactionRecord } from '../../src/api/money-records.ts'
import type { NotificationRecord } from '../../src/api/records.ts'
import type { TestUser } from '../support/marketplace.ts'
import { openTrade, type Trade } from '../support/trade.ts'

const told = suite<Trade>('told')

told.before(async state => {
  Object.assign(state, await openTrade(200_000))
  await state.marketplace.stopHeartbeat()
})

told.after(({ marketplace }) => marketplace.close())

async function delivered({ marketplace, buyer, builder, agent }: Trade, title: string): Promise<string> {
  const { id } = await marketplace.draft(buyer, agent, { title })
  await buyer.client.submitTask({ id })
  await builder.client.acceptTask({ id })
  await builder.client.deliverTask({ id, content: 'Done' })
  return id
}

const newsOf = async (who: TestUser) =>
  (await who.client.listNotifications()).items.map(({ type, message, data, agentId }: NotificationRecord) => ({
    type,
    message,
    data,
    agentId,
  }))

told('a dispute is told to the builder, its resolution to both', async state => {
  const { marketplace, buyer, builder, agent } = state
  const endings = [
    ['refund', {}, 1_000, 'the price goes back to the buyer'],
    ['release', {}, 0, 'the price goes to the builder'],
    ['split', { refundAmount: 1 }, 1, 'the price is split'],
  ] as const
  for (const [outcome, more, refundAmount, words] of endings) {
    const id = await delivered(state, `To ${outcome}`)
    const reason = 'It is not what was asked.'
    await buyer.client.disputeTask({ id, reason })
    const opened = {
      type: 'dispute_opened',
      message: `The buyer disputes the task “To ${outcome}”`,
      data: { taskId: id, reason },
      agentId: agent.id,
    }
    assert.equal((await newsOf(builder))[0], opened)
    await marketplace.pass(1)
    const task = await marketplace.admin.call<{ dispute: object }>('POST', `/api/admin/tasks/${id}/resolve`, {
      outcome,
      ...more,
    })
    const { openedAt: _, resolvedAt: __, ...dispute } = task.dispute as Record<string, unknown>
    assert.equal(dispute, {
      status: 'resolved',
      reason,
      openedFrom: 'delivered',
      openedBy: buyer.id,
      outcome,
      refundAmount,
      outcomeReason: null,
    })
    const resolved = {
      type: 'dispute_resolved',
      message: `The dispute about the task “To ${outcome}” is resolved: ${words}`,
      data: { taskId: id, outcome, refundAmount, reason: null },
      agentId: agent.id,
    }
    for (const party of [buyer, builder]) assert.equal((await newsOf(party))[0], resolved)
    await marketplace.pass(1)
  }
  assert.equal((await newsOf(buyer)).length, 3)
})

told('whoever hires their own agent is told of the resolution once, and of their dispute not at all', async state => {
  const { marketplace, builder, agent } = state
  await builder.client.deposit({ amount: 2_000 })
  const id = await delivered({ ...state, buyer: builder }, 'One’s own')
  const before = (await newsOf(builder)).length
  await builder.client.disputeTask({ id, reason: 'It is not what was asked.' })
  await marketplace.admin.call('POST', `/api/admin/tasks/${id}/resolve`, { outcome: 'refund' })
  const news = await newsOf(builder)
  assert.is(news.length, before + 1)
  assert.equal([news[0]!.type, news[0]!.agentId], ['dispute_resolved', agent.id])
})

told('an administrator who settles a task that nobody has disputed is named in its dispute', async state => {
  const { marketplace, builder } = state
  const id = await delivered(state, 'Undisputed')
  const before = (await newsOf(builder)).length
  const { dispute } = await marketplace.admin.call<{ dispute: Record<string, unknown> }>(
    'POST',
    `/api/admin/tasks/${id}/resolve`,
    { outcome: 'release' },
  )
  const { openedFrom, openedBy, reason } = dispute
  assert.equal(
    [openedFrom, openedBy, reason],
    ['delivered', marketplace.admin.id, 'Opened by an administrator to settle the task'],
  )
  assert.is((await newsOf(builder)).length, before + 1)
})

told('each transfer says what it was for', async state => {
  const { marketplace, agent } = state
  const buyer = await marketplace.join('payer', 10_000)
  const builder = await marketplace.join('payee')
  const mine = await marketplace.list(builder, { name: 'Another' })
  const of = { ...state, buyer, builder, agent: mine }
  await buyer.client.approveTask({ id: await delivered(of, 'Approved') })
  const split = await delivered(of, 'Split')
  await marketplace.admin.call('POST', `/api/admin/tasks/${split}/resolve`, { outcome: 'split', refundAmount: 300 })
  for (const [title, body] of [
    ['Taken back', { outcome: 'refund' }],
    ['Taken back in part', { outcome: 'split', refundAmount: 400 }],
  ] as const) {
    const id = await delivered(of, title)
    await buyer.client.approveTask({ id })
    await buyer.client.disputeTask({ id, reason: 'It is not what was asked for, nor like it' })
    await marketplace.admin.call('POST', `/api/admin/tasks/${id}/resolve`, body)
  }
  await buyer.client.connectPayouts()
  await buyer.call('POST', '/api/auth/login', { email: buyer.email, password: buyer.password })
  await buyer.client.withdraw({ amount: 500 })
  const lines = async (who: TestUser) =>
    (await who.client.listTransactions()).items
      .map(({ type, amount, status, description }: TransactionRecord) => `${type} ${amount} ${status}: ${description}`)
      .sort()
  assert.equal(await lines(buyer), [
    'deposit 10000 completed: Deposit',
    'hold 1000 completed: Held for “Approved”',
    'hold 1000 completed: Held for “Split”',
    'hold 1000 completed: Held for “Taken back in part”',
    'hold 1000 completed: Held for “Taken back”',
    'refund 1000 completed: Refund for “Taken back”',
    'refund 300 completed: Refund for “Split”',
    'refund 400 completed: Refund for “Taken back in part”',
    'release 1000 completed: Payment for “Approved”',
    'release 1000 completed: Payment for “Taken back in part”',
    'release 1000 completed: Payment for “Taken back”',
    'release 700 completed: Payment for “Split”',
    'withdrawal 500 completed: Withdrawal',
  ])
  assert.equal(await lines(builder), [
    'earning 1000 clearing: Payment for “Approved”',
    'earning 1000 reversed: Payment for “Taken back”',
    'earning 600 completed: Payment for “Taken back in part”',
    'earning 700 completed: Payment for “Split”',
  ])
  await marketplace.pass(durations.clearingMs)
  assert.ok((await lines(builder)).includes('earning 1000 completed: Payment for “Approved”'))
  await marketplace.freshen(agent)
})

told(
  'a deposit beyond the limits is told its tier, the limit, what is left and what it is',
  async ({ marketplace }) => {
    const user = await marketplace.join('depositor')
    const said = async (amount: number) => (await user.ask('POST', '/api/wallet/deposit', { amount })).error
    assert.is(
      await said(500_001),
      'A deposit of an account that is new_verified may be 5000.00 at most; this is 5000.01',
    )
    await user.client.deposit({ amount: 500_000 })
    await user.client.deposit({ amount: 400_000 })
    assert.is(
      await said(100_001),
      'The deposits of an account that is new_verified may be 10000.00 a day (UTC); 1000.00 is left today, this is 1000.01',
    )
    await user.client.deposit({ amount: 100_000 })
  },
)

told('a budget whose caps are not in order says which is above which', async ({ buyer, agent }) => {
  const ask = (maxPerTask: number, maxDaily: number, maxMonthly: number) =>
    buyer.ask('POST', '/api/budget-authorizations', { agentId: agent.id, maxPerTask, maxDaily, maxMonthly })
  assert.equal((await ask(1_001, 1_000, 999)).errors, {
    maxPerTask: ['must not be above maxDaily, which is 1000'],
    maxDaily: ['must not be above maxMonthly, which is 999'],
  })
  const wrong = {
    agentId: agent.id,
    maxPerTask: 200,
    maxDaily: 200,
    maxMonthly: 200,
    allowedCategories: ['x', 'cat_code', 'y'],
  }
  assert.equal((await buyer.ask('POST', '/api/budget-authorizations', wrong)).errors, {
    allowedCategories: ['names an unknown category: x', 'names an unknown category: y'],
  })
})

told('what a budget does not let through is told with its reason', async state => {
  const { marketplace, agent } = state
  const owner = await marketplace.join('owner', 100_000)
  const hirer = await marketplace.join('hirer')
  const buying = await marketplace.list(hirer, { name: 'One that buys' })
  const caps = { maxPerTask: 1_000, maxDaily: 1_500, maxMonthly: 1_800 }
  const { id } = await owner.client.createBudget({ agentId: buying.id, ...caps })
  const submit = async (agreedPrice: number) => {
    const task = await marketplace.draft(hirer, agent, { budgetAuthorizationId: id, agreedPrice })
    return (await hirer.ask('POST', `/api/tasks/${task.id}/submit`)).error
  }
  const begins = 'The budget authorization'
  assert.is(await submit(1_001), `${begins} allows 10.00 a task (maxPerTask); this one costs 10.01`)
  assert.is(await submit(1_000), undefined)
  assert.is(await submit(501), `${begins} allows 15.00 a day of UTC (maxDaily); 10.00 is spent, this task costs 5.01`)
  assert.is(await submit(500), undefined)
  await owner.client.updateBudget({ id, maxDaily: 1_800 })
  assert.is(await submit(301), `${begins} allows 18.00 a day of UTC (maxDaily); 15.00 is spent, this task costs 3.01`)
  await marketplace.pass(durations.dayMs)
  await marketplace.freshen(agent)
  await marketplace.freshen(buying)
  assert.is(
    await submit(301),
    `${begins} allows 18.00 a month of UTC (maxMonthly); 15.00 is spent, this task costs 3.01`,
  )
  await owner.client.updateBudget({ id, allowedCategories: ['cat_code', 'cat_media'] })
  const said = await submit(200)
  assert.is(said, `${begins} allows the categories cat_code, cat_media; the agent is in cat_writing`)
  await owner.client.pauseBudget({ id })
  assert.is(await submit(200), `${begins} is paused`)
  const draft = await marketplace.draft(hirer, agent, { budgetAuthorizationId: id })
  await owner.client.resumeBudget({ id })
  await hirer.call('DELETE', `/api/my/agents/${buying.id}`)
  assert.is(
    (await hirer.ask('POST', `/api/tasks/${draft.id}/submit`)).error,
    `${begins} names an agent that is deleted`,
  )
})

told.run()
