// engines: embedded, postgres at length; process: shared
/** Deposits, withdrawals and the payout account, over the wire. Source. */

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import type {
  DepositLimitRecord,
  PaymentRecord,
  TransactionRecord,
  WalletRecord,
} from '../../../src/api/money-records.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import type { List } from '../../support/lists.ts'
import { openTestMarketplace, type TestUser } from '../../support/marketplace.ts'

const deposit = (who: TestUser, amount: unknown) =>
  who.ask<TransactionRecord>('POST', '/api/wallet/deposit', { amount })
const withdraw = (who: TestUser, amount: unknown) =>
  who.ask<TransactionRecord>('POST', '/api/wallet/withdraw', { amount })
const limits = (who: TestUser) => who.call<DepositLimitRecord>('GET', '/api/wallet/deposit-limits', undefined, 'key')

const tiers = [
  ['trusted', 1_000_000, 2_000_000],
  ['new_verified', 500_000, 1_000_000],
  ['new_unverified', 50_000, 100_000],
  ['chargeback_risk', 20_000, 50_000],
] as const

/** What makes an account of this tier, after thirty days and a moment. */
const standing = {
  trusted: {},
  new_verified: { identityVerified: true },
  new_unverified: { identityVerified: false },
  chargeback_risk: { chargebacks: 1 },
} as const

for (const [tier, each, perDay] of tiers) {
  test(`${tier}: a deposit of ${each} passes, one cent more does not; ${perDay} a day of UTC`, async () => {
    const marketplace = await openTestMarketplace()
    const old = tier === 'trusted' ? await marketplace.join('member') : null
    await marketplace.pass(30 * durations.dayMs + 1)
    const user = old ?? (await marketplace.join('member'))
    if (old) await user.call('POST', '/api/auth/login', { email: user.email, password: user.password })
    await marketplace.admin.call('PUT', `/api/admin/users/${user.id}`, standing[tier], 'key')
    const shown = {
      trustTier: tier,
      currency: 'USD',
      minDeposit: 200,
      maxDeposit: each,
      dailyLimit: perDay,
      dailyRemaining: perDay,
      canDeposit: true,
    }
    assert.equal(await limits(user), shown)
    assert.is((await deposit(user, each + 1)).status, 400)
    assert.equal(await limits(user), shown, 'what was refused does not count')
    let left: number = perDay
    while (left > each) {
      assert.is((await deposit(user, each)).status, 201)
      left -= each
    }
    assert.is((await deposit(user, left - 199)).status, 201)
    assert.equal(await limits(user), { ...shown, dailyRemaining: 199, canDeposit: false })
    assert.is((await deposit(user, 200)).status, 400)
    assert.is((await marketplace.balances(user.id)).available, perDay - 199)
    await marketplace.pass(durations.dayMs - (marketplace.world.now() % durations.dayMs) - 1)
    assert.is((await deposit(user, 200)).status, 400, 'still the same day')
    await marketplace.pass(1)
    assert.equal(await limits(user), shown)
    assert.is((await deposit(user, 200)).status, 201)
    await marketplace.close()
  })
}

test('suspended and banned accounts may deposit nothing', async () => {
  const marketplace = await openTestMarketplace()
  const user = await marketplace.join('member')
  await marketplace.admin.call('PUT', `/api/admin/users/${user.id}`, { suspended: true })
  const { trustTier, maxDeposit, dailyLimit, dailyRemaining, canDeposit } = await limits(user)
  assert.equal([trustTier, maxDeposit, dailyLimit, dailyRemaining, canDeposit], ['suspended', 0, 0, 0, false])
  assert.is((await deposit(user, 200)).status, 403)
  await marketplace.close()
})

test('money is moved in a session alone: a key is 403', async () => {
  const marketplace = await openTestMarketplace()
  const user = await marketplace.join('member')
  const before = await marketplace.contents()
  for (const path of ['deposit', 'withdraw', 'connect']) {
    const body = { amount: 200 }
    assert.is((await user.ask('POST', `/api/wallet/${path}`, body, 'key')).status, 403, path)
    assert.is((await marketplace.visitor.ask('POST', `/api/wallet/${path}`, body)).status, 401, path)
  }
  for (const path of ['', '/transactions', '/deposit-limits']) {
    assert.is((await user.ask('GET', `/api/wallet${path}`, undefined, 'key')).status, 200, path)
  }
  for (const amount of [199, 200.5, '200', -200, 1_000_000_000_001, null]) {
    assert.equal(Object.keys((await deposit(user, amount)).errors!), ['amount'])
    assert.equal(Object.keys((await withdraw(user, amount)).errors!), ['amount'])
  }
  assert.equal(await marketplace.contents(), before)
  await marketplace.close()
})

test('sandbox: connected at once, paid out at once, never more than is spendable', async () => {
  const marketplace = await openTestMarketplace()
  const user = await marketplace.join('member', 1_000)
  const { status, error } = await withdraw(user, 200)
  assert.equal([status, /payout/.test(error!)], [400, true])
  assert.equal(await user.call('POST', '/api/wallet/connect'), { connectStatus: 'connected' })
  assert.equal(await user.call('POST', '/api/wallet/connect'), { connectStatus: 'connected' })
  assert.is((await withdraw(user, 1_001)).status, 400)
  const paid = await withdraw(user, 1_000)
  assert.equal([paid.status, paid.data!.status, paid.data!.type], [201, 'completed', 'withdrawal'])
  assert.equal(await marketplace.balances(user.id), { available: 0, held: 0, clearing: 0 })
  await marketplace.checkLedger()
  await marketplace.close()
})

test('only money that moves is logged as money', async () => {
  const logged: LogEntry[] = []
  const marketplace = await openTestMarketplace({ payments: 'manual', log: entry => logged.push(entry) })
  const user = await marketplace.join('member')
  const { id } = (await deposit(user, 5_000)).data!
  const money = () => logged.flatMap(entry => (entry.type === 'money' ? [[entry.kind, entry.amount]] : []))
  assert.equal(money(), [])
  await marketplace.admin.call('POST', `/api/admin/deposits/${id}/confirm`, undefined, 'session')
  assert.equal(money(), [['deposit', 5_000]])
  await marketplace.close()
})

test('manual: an administrator connects the payout account, and confirms or rejects each payment once', async () => {
  const marketplace = await openTestMarketplace({ payments: 'manual' })
  const user = await marketplace.join('member')
  const { admin } = marketplace
  const wallet = async () => {
    const { wallet: shown, connectStatus } = await user.call<WalletRecord>('GET', '/api/wallet')
    return [shown.balance, connectStatus]
  }
  const decide = (kind: string, id: string, how: string, by: 'key' | 'session' = 'session') =>
    admin.ask<PaymentRecord>('POST', `/api/admin/${kind}/${id}/${how}`, undefined, by)

  const [good, bad] = [(await deposit(user, 5_000)).data!, (await deposit(user, 7_000)).data!]
  assert.equal([good.status, bad.status, await wallet()], ['pending', 'pending', [0, 'not_connected']])
  assert.is((await limits(user)).dailyRemaining, 1_000_000 - 12_000)
  assert.is((await decide('deposits', good.id, 'confirm', 'key')).status, 403, 'money needs a session')
  assert.is((await user.ask('POST', `/api/admin/deposits/${good.id}/confirm`)).status, 403)
  const confirmed = await decide('deposits', good.id, 'confirm')
  assert.equal([confirmed.status, confirmed.data!.status, confirmed.data!.userId], [200, 'completed', user.id])
  assert.is((await decide('deposits', bad.id, 'reject')).data!.status, 'rejected')
  for (const id of [good.id, bad.id]) {
    for (const how of ['confirm', 'reject']) assert.is((await decide('deposits', id, how)).status, 400)
  }
  assert.is((await decide('withdrawals', good.id, 'confirm')).status, 404)
  assert.is((await limits(user)).dailyRemaining, 1_000_000 - 5_000, 'a rejected deposit gives back')
  assert.equal(await wallet(), [5_000, 'not_connected'])

  assert.equal(await user.call('POST', '/api/wallet/connect'), { connectStatus: 'pending' })
  assert.equal(await wallet(), [5_000, 'pending'])
  // He has done his part: the refusal says whose turn it is.
  assert.match((await withdraw(user, 200)).error!, /waits for an administrator/)
  assert.is((await withdraw(user, 2_000)).status, 400)
  await admin.call('PUT', `/api/admin/users/${user.id}`, { connectStatus: 'connected' })
  assert.equal(await user.call('POST', '/api/wallet/connect'), { connectStatus: 'connected' })
  const [paid, back] = [(await withdraw(user, 2_000)).data!, (await withdraw(user, 3_000)).data!]
  assert.equal([paid.status, back.status, await wallet()], ['pending', 'pending', [0, 'connected']])
  await marketplace.checkLedger()
  const waiting = await admin.call<List<PaymentRecord>>(
    'GET',
    '/api/admin/withdrawals?status=pending',
    undefined,
    'key',
  )
  assert.equal(
    waiting.items.map(item => item.id),
    [paid.id, back.id],
  )
  assert.is((await decide('withdrawals', paid.id, 'confirm', 'key')).status, 403)
  assert.is((await decide('withdrawals', paid.id, 'confirm')).data!.status, 'completed')
  assert.is((await decide('withdrawals', back.id, 'reject')).data!.status, 'rejected')
  assert.is((await decide('withdrawals', back.id, 'confirm')).status, 400)
  assert.equal(await wallet(), [3_000, 'connected'])
  const lines = await user.call<List<TransactionRecord>>('GET', '/api/wallet/transactions')
  assert.equal(
    lines.items.map(({ id, type, amount, status }) => [id, type, amount, status]),
    [
      [back.id, 'withdrawal', 3_000, 'rejected'],
      [paid.id, 'withdrawal', 2_000, 'completed'],
      [bad.id, 'deposit', 7_000, 'rejected'],
      [good.id, 'deposit', 5_000, 'completed'],
    ],
  )
  await marketplace.checkLedger()
  await admin.call('PUT', `/api/admin/users/${user.id}`, { connectStatus: 'not_connected' })
  assert.is((await withdraw(user, 200)).status, 400)
  await marketplace.close()
})

const times = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)))

const passed = (answers: readonly { status: number }[]) => answers.filter(({ status }) => status < 300).length

test('20 parallel deposits fill the day exactly, 20 parallel withdrawals empty the wallet exactly', async () => {
  const marketplace = await openTestMarketplace()
  const user = await marketplace.join('member')
  await user.call('POST', '/api/wallet/connect')
  assert.is(passed(await times(20, () => deposit(user, 150_000))), 6)
  assert.is((await marketplace.balances(user.id)).available, 900_000)
  assert.is(passed(await times(20, () => withdraw(user, 70_000))), 12)
  assert.is((await marketplace.balances(user.id)).available, 60_000)
  await marketplace.checkLedger()
  await marketplace.close()
})

test('of 20 who decide one payment, one does', async () => {
  const marketplace = await openTestMarketplace({ payments: 'manual' })
  const user = await marketplace.join('member')
  const { id } = (await deposit(user, 1_000)).data!
  const path = `/api/admin/deposits/${id}`
  const answers = await times(20, i => marketplace.admin.ask('POST', `${path}/${i % 2 ? 'confirm' : 'reject'}`))
  assert.is(passed(answers), 1)
  const [only] = (await marketplace.admin.call<List<PaymentRecord>>('GET', '/api/admin/deposits')).items
  assert.is((await marketplace.balances(user.id)).available, only!.status === 'completed' ? 1_000 : 0)
  await marketplace.checkLedger()
  await marketplace.close()
})

test.run()
