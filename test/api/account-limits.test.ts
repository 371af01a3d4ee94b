// engines: embedded, postgres at length; process: shared
/** The limits of accounts, money and lists at their edges and one beyond. Source, I-list. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpUser } from '../../src/sim/http-user.ts'
import { checkedFetch } from '../support/contract.ts'
import { accepts, bodyWith, Raw, refuses, type Send, textRule } from '../support/edges.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../support/marketplace.ts'

const limit = suite<{ marketplace: TestMarketplace; user: TestUser }>('limits')

limit.before(async context => {
  context.marketplace = await openTestMarketplace()
  context.user = await context.marketplace.join('member', 5_000)
})

limit.after(({ marketplace }) => marketplace.close())

/** Registers somebody new each time. */
const register = (marketplace: TestMarketplace, field: string): Send => {
  let count = 0
  return value => {
    const account = { email: `${field}.${count++}@example.com`, password: 'a long password', name: 'Somebody' }
    return new HttpUser(marketplace.url, checkedFetch).ask(
      'POST',
      '/api/auth/register',
      bodyWith(account, field, value),
    )
  }
}

// A password of one character over and over is refused for what it is.
const filler = { plain: 'long pas', wide: '😀🎈🦊🌵' }

for (const [field, range] of Object.entries({ password: [10, 128], name: [2, 100] } as const)) {
  limit(`an account's ${field}`, ({ marketplace }) =>
    textRule(register(marketplace, field), field, [...range], false, filler),
  )
}

limit('a name and a new password, when they are changed', async ({ marketplace }) => {
  const user = await marketplace.join('changes')
  const rename: Send = value =>
    user.ask('PUT', '/api/auth/me', bodyWith({}, 'name', value === undefined ? null : value))
  await textRule(rename, 'name', [2, 100])
  let currentPassword = user.password
  const change: Send = async value => {
    const answer = await user.ask('POST', '/api/auth/password', bodyWith({ currentPassword }, 'newPassword', value))
    if (answer.status === 200) currentPassword = value as string
    return answer
  }
  await textRule(change, 'newPassword', [10, 128], false, filler)
})

limit('an email: 254 characters, trimmed and in lower case', async ({ marketplace }) => {
  const send = register(marketplace, 'email')
  const long = (length: number) =>
    `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(length - 187)}.com`
  assert.is(long(254).length, 254)
  await accepts(send, long(254), '  SPACED@Example.COM  ')
  await refuses(send, 'email', long(255), 'nobody', '@example.com', 'a@', 'a b@example.com', '', ' ', 'a@b@example.com')
  await refuses(send, 'email', 5, null, undefined, [], {}, 'a\0@example.com')
  assert.is((await send('spaced@example.com')).status, 409)
})

limit('isBuilder is true or false', async ({ marketplace }) => {
  const send = register(marketplace, 'isBuilder')
  await accepts(send, true, false, undefined)
  await refuses(send, 'isBuilder', 'true', 1, 0, null, [])
})

limit('the amounts of deposits and withdrawals', async ({ user }) => {
  for (const verb of ['deposit', 'withdraw']) {
    const send: Send = value => user.ask('POST', `/api/wallet/${verb}`, bodyWith({}, 'amount', value))
    if (verb === 'withdraw') await user.call('POST', '/api/wallet/connect')
    await refuses(send, 'amount', 199, 200.5, '200', 0, -200, 1_000_000_000_001, 2 ** 53, null, undefined, [], {}, true)
    await accepts(send, 200, new Raw('2e2'), new Raw('200.0'))
    // Within the bounds of a price, but above what may be moved: another refusal.
    const most = await send(1_000_000_000_000)
    assert.equal([most.status, most.errors], [400, undefined])
  }
})

limit('deposits by trust tier: each, and in a day', async ({ marketplace }) => {
  const tiers = [
    ['new_unverified', {}, 50_000, 100_000],
    ['new_verified', { identityVerified: true }, 500_000, 1_000_000],
    ['chargeback_risk', { chargebacks: 1 }, 20_000, 50_000],
  ] as const
  for (const [tier, change, each, perDay] of tiers) {
    const user = await marketplace.join(tier)
    await marketplace.admin.call('PUT', `/api/admin/users/${user.id}`, { identityVerified: false, ...change })
    const deposit = (amount: number) => user.ask('POST', '/api/wallet/deposit', { amount })
    assert.is((await deposit(each + 1)).status, 400, tier)
    for (let rest: number = perDay; rest > 0; rest -= each) {
      assert.is((await deposit(Math.min(each, rest))).status, 201, tier)
    }
    assert.is((await deposit(200)).status, 400, tier)
    const limits = await user.call('GET', '/api/wallet/deposit-limits')
    assert.equal(limits, {
      trustTier: tier,
      currency: 'USD',
      minDeposit: 200,
      maxDeposit: each,
      dailyLimit: perDay,
      dailyRemaining: 0,
      canDeposit: false,
    })
  }
})

const lists = [
  '/api/agents',
  '/api/tasks',
  '/api/my/agents',
  '/api/my/api-keys',
  '/api/wallet/transactions',
  '/api/admin/agents',
  '/api/admin/users',
  '/api/admin/tasks',
  '/api/admin/deposits',
  '/api/admin/withdrawals',
]

for (const path of lists) {
  limit(`pages of ${path}`, async ({ marketplace }) => {
    const get = (query: string) => marketplace.admin.ask('GET', `${path}${query}`, undefined, 'key')
    const by =
      (name: string): Send =>
      value =>
        get(value === undefined ? '' : `?${name}=${encodeURIComponent(String(value))}`)
    await accepts(by('limit'), 1, 100, undefined)
    await refuses(by('limit'), 'limit', 0, 101, -1, 1.5, '', 'x', '1e1', ' 1', '0x1')
    await accepts(by('page'), 1, 2, 999_999, undefined)
    await refuses(by('page'), 'page', 0, -1, 1.5, '', 'x', '1e1')
    assert.is((await get('?unknown=1')).status, 200)
    const twice = await get('?page=1&page=2')
    assert.equal([twice.status, Object.keys(twice.errors!)], [400, ['page']])
    const { data } = await marketplace.admin.ask<{ pagination: { total: number } }>(
      'GET',
      `${path}?page=999999`,
      undefined,
      'key',
    )
    const { pagination, ...items } = data!
    assert.equal(Object.values(items), [[]])
    const totalPages = Math.ceil(pagination.total / 20)
    assert.equal(pagination, { page: 999_999, limit: 20, total: pagination.total, totalPages, hasMore: false })
    const first = await marketplace.admin.ask<{ pagination: object }>('GET', path, undefined, 'key')
    const hasMore = totalPages > 1
    assert.equal(first.data!.pagination, { page: 1, limit: 20, total: pagination.total, totalPages, hasMore })
  })
}

const filters = {
  '/api/agents': { sort: ['popular', 'newest', 'price_asc', 'price_desc'] },
  '/api/tasks': {
    status: ['draft', 'pending', 'in_progress', 'delivered', 'completed', 'cancelled'],
    role: ['buyer', 'builder'],
  },
  '/api/wallet/transactions': { type: ['deposit', 'withdrawal', 'hold', 'refund', 'release', 'earning'] },
  '/api/admin/agents': { status: ['draft', 'pending_review', 'verified', 'active', 'inactive'] },
}

for (const [path, names] of Object.entries(filters)) {
  limit(`filters of ${path}`, async ({ user, marketplace }) => {
    const sender = path.startsWith('/api/admin') ? marketplace.admin : user
    for (const [name, values] of Object.entries(names)) {
      const send: Send = value => sender.ask('GET', `${path}?${name}=${value}`, undefined, 'key')
      await accepts(send, ...values)
      await refuses(send, name, 'nonsense', values[0]!.toUpperCase(), '')
    }
  })
}

limit.run()
