// engines: embedded, postgres at length; process: shared
/** A second factor over the wire: turned on, asked for at sign-in, used up, recovered from, turned off. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { warnWithoutSecondFactor } from '../../../src/market/accounts/first-administrator.ts'
import { totpCode } from '../../../src/market/accounts/totp.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { checkedFetch } from '../../support/contract.ts'
import { openTestMarketplace, type TestMarketplace, type TestUser } from '../../support/marketplace.ts'

const STEP_MS = 30_000

interface Login {
  email?: string
  password?: string
  totp?: string
  recoveryCode?: string
}

const tryLogin = (marketplace: TestMarketplace, { email, password }: TestUser, more: Login = {}) =>
  new HttpUser(marketplace.url, checkedFetch).ask('POST', '/api/auth/login', { email, password, ...more })

async function enrol(marketplace: TestMarketplace, user: TestUser) {
  const { secret } = await user.client.beginTotp({ password: user.password })
  const { recoveryCodes } = await user.client.confirmTotp({ code: totpCode(secret, marketplace.world.realNow()) })
  return { secret, recoveryCodes }
}

/** To the next step, so that a code of this one is no repeat. */
const nextStep = (marketplace: TestMarketplace) => marketplace.world.tick(STEP_MS)

test('the codes are those of RFC 6238', () => {
  // Appendix B, SHA-1: the last six of eight digits.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const known = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ] as const
  for (const [seconds, code] of known) assert.is(totpCode(secret, seconds * 1000), code)
})

test('an account with a second factor signs in with a code alone, and nobody learns of it without the password', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  assert.equal(await ann.client.getTotp(), { enabled: false, enabledAt: null, recoveryCodesLeft: 0 })
  const { secret, otpauthUrl } = await ann.client.beginTotp({ password: ann.password })
  const url = new URL(otpauthUrl)
  assert.is(`${url.protocol}//${url.host}`, 'otpauth://totp')
  assert.equal(
    [...url.searchParams].filter(([name]) => name !== 'issuer'),
    [
      ['secret', secret],
      ['algorithm', 'SHA1'],
      ['digits', '6'],
      ['period', '30'],
    ],
  )
  assert.match(decodeURIComponent(url.pathname), /ann@example\.com$/)
  assert.is((await tryLogin(marketplace, ann)).status, 200, 'what is only begun is not asked for')
  const now = () => marketplace.world.realNow()
  assert.is(
    (await ann.ask('POST', '/api/auth/totp/confirm', { code: totpCode(secret, now() - 5 * STEP_MS) })).status,
    400,
  )
  await ann.client.confirmTotp({ code: totpCode(secret, now()) })
  assert.is((await ann.client.getTotp()).enabled, true)
  nextStep(marketplace)
  const without = await tryLogin(marketplace, ann)
  assert.is(without.status, 400)
  assert.match(without.errors!.totp![0]!, 'second factor')
  const stranger = await tryLogin(marketplace, ann, { password: 'not the password' })
  assert.equal([stranger.status, stranger.errors], [401, undefined])
  assert.is(
    (await tryLogin(marketplace, ann, { totp: '000000' })).error,
    'The code is wrong, used already or too old; take the next one that your authenticator shows',
  )
  assert.is((await tryLogin(marketplace, ann, { totp: totpCode(secret, now()) })).status, 200)
  await marketplace.close()
})

test('a code signs in once, also when it is sent twice at the same moment; its neighbours pass, older ones do not', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  const { secret } = await enrol(marketplace, ann)
  const at = (steps: number) => totpCode(secret, marketplace.world.realNow() + steps * STEP_MS)
  assert.is((await tryLogin(marketplace, ann, { totp: at(0) })).status, 401, 'the code that turned it on is used')
  marketplace.world.tick(3 * STEP_MS)
  assert.is((await tryLogin(marketplace, ann, { totp: at(-2) })).status, 401)
  assert.is((await tryLogin(marketplace, ann, { totp: at(2) })).status, 401)
  assert.is((await tryLogin(marketplace, ann, { totp: at(-1) })).status, 200)
  const twice = await Promise.all([1, 2, 3].map(() => tryLogin(marketplace, ann, { totp: at(0) })))
  assert.equal(twice.map(({ status }) => status).sort(), [200, 401, 401])
  assert.is((await tryLogin(marketplace, ann, { totp: at(-1) })).status, 401, 'a step before the last one used is over')
  assert.is((await tryLogin(marketplace, ann, { totp: at(1) })).status, 200)
  await marketplace.close()
})

test('each recovery code signs in once, however it is typed, and turns the second factor off', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  const { recoveryCodes } = await enrol(marketplace, ann)
  assert.is(new Set(recoveryCodes).size, 10)
  for (const code of recoveryCodes) assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
  const [first, second, third] = recoveryCodes as [string, string, string]
  const typed = ` ${first.replaceAll('-', ' ').toUpperCase()} `
  const twice = await Promise.all([1, 2].map(() => tryLogin(marketplace, ann, { recoveryCode: typed })))
  assert.equal(twice.map(({ status }) => status).sort(), [200, 401])
  assert.is((await ann.client.getTotp()).recoveryCodesLeft, 9)
  const remove = (body: object) => ann.ask('DELETE', '/api/auth/totp', body)
  assert.is((await remove({ password: ann.password })).status, 400)
  assert.is((await remove({ password: ann.password, recoveryCode: first })).status, 401)
  assert.is((await remove({ password: 'not the password', recoveryCode: second })).status, 401)
  assert.is((await remove({ password: ann.password, recoveryCode: second })).status, 200)
  assert.is((await tryLogin(marketplace, ann)).status, 200)
  assert.is((await tryLogin(marketplace, ann, { recoveryCode: third })).status, 200, 'without one, a code says nothing')
  const kept = await marketplace.market.db.read(q => q.all('SELECT code_hash FROM recovery_codes ORDER BY code_hash'))
  assert.equal(kept, [])
  await marketplace.close()
})

test('turning it on takes the password, ends every other session, and can not be begun over', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  const elsewhere = new HttpUser(marketplace.url, checkedFetch)
  await elsewhere.client.login({ email: ann.email, password: ann.password })
  assert.is((await ann.ask('POST', '/api/auth/totp', { password: 'not the password' })).status, 401)
  const { secret } = await enrol(marketplace, ann)
  assert.is((await elsewhere.ask('GET', '/api/auth/me')).status, 401)
  assert.is((await ann.ask('GET', '/api/auth/me')).status, 200)
  assert.is((await ann.ask('POST', '/api/auth/totp', { password: ann.password })).status, 409)
  assert.is(
    (await ann.ask('POST', '/api/auth/totp/confirm', { code: totpCode(secret, marketplace.world.realNow()) })).status,
    409,
  )
  await marketplace.close()
})

test('the secret is sealed at rest and the recovery codes are hashed', async () => {
  const marketplace = await openTestMarketplace()
  const ann = await marketplace.join('ann')
  const { secret, recoveryCodes } = await enrol(marketplace, ann)
  const told = JSON.stringify(await marketplace.contents())
  for (const part of [secret, ...recoveryCodes, ...recoveryCodes.map(code => code.replaceAll('-', ''))]) {
    assert.not(told.includes(part))
  }
  assert.ok(told.includes('second_factors'))
  await marketplace.close()
})

test('where administrators need a second factor, one without it settles no money, and does all else', async () => {
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({
    adminTotp: 'required',
    payments: 'manual',
    log: line => log.push(line),
  })
  const warned = async () => {
    log.length = 0
    await warnWithoutSecondFactor(marketplace.market)
    return log.map(line => ('message' in line ? line.message : ''))
  }
  assert.match((await warned())[0]!, /have no second factor and can settle no money: admin@example.com\. Each/)
  const { admin } = marketplace
  const missing = async () => {
    const { items, pagination } = await admin.client.adminListUsers({ secondFactor: 'missing' })
    return [pagination.total, ...items.map(({ email }) => email)]
  }
  assert.equal(await missing(), [1, 'admin@example.com'])
  const ann = await marketplace.join('ann')
  const { id } = await ann.client.deposit({ amount: 5_000 })
  const confirm = () => admin.ask('POST', `/api/admin/deposits/${id}/confirm`)
  const refused = await confirm()
  assert.is(refused.status, 403)
  assert.match(refused.error!, 'POST /api/auth/totp')
  assert.is((await admin.ask('POST', `/api/admin/deposits/${id}/reject`)).status, 403)
  assert.is((await admin.ask('POST', '/api/admin/tasks/none/resolve', { outcome: 'refund' })).status, 403)
  assert.is((await admin.ask('GET', '/api/admin/deposits')).status, 200)
  await enrol(marketplace, admin)
  assert.is((await confirm()).status, 200)
  assert.equal(await warned(), [])
  assert.equal(await missing(), [0])
  await marketplace.checkLedger()
  await marketplace.close()
})

test('of the administrators without a second factor five are named, and others are told of', async () => {
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({ adminTotp: 'required', log: line => log.push(line) })
  const makeAdmins = (count: number) =>
    marketplace.market.db.write(tx =>
      tx.run(
        'UPDATE users SET is_admin = CASE WHEN email IN (SELECT email FROM users ORDER BY email LIMIT $1) THEN 1 ELSE 0 END',
        [count],
      ),
    )
  for (const name of ['anna', 'bert', 'cleo', 'dora', 'emil']) await marketplace.join(name)
  for (const [count, names] of [
    [5, 'admin, anna, bert, cleo, dora'],
    [6, 'admin, anna, bert, cleo, dora, others'],
  ] as const) {
    await makeAdmins(count)
    log.length = 0
    await warnWithoutSecondFactor(marketplace.market)
    const [line] = log as { message: string }[]
    assert.match(line!.message, `settle no money: ${names.replace(/\b(?!others)\w+/g, '$&@example.com')}. Each`)
  }
  await marketplace.close()
})

test('an administrator turns off what somebody else has lost, by a session and never by a key, and not their own', async () => {
  const marketplace = await openTestMarketplace()
  const { admin } = marketplace
  const ann = await marketplace.join('ann')
  await enrol(marketplace, ann)
  await enrol(marketplace, admin)
  const off = (id: string, by: 'session' | 'key', secondFactor: unknown = false) =>
    admin.ask('PUT', `/api/admin/users/${id}`, { secondFactor }, by)
  assert.is((await off(ann.id, 'key')).status, 403)
  assert.is((await off(ann.id, 'session', true)).status, 400)
  assert.equal(Object.keys((await off(admin.id, 'session')).errors!), ['secondFactor'])
  assert.is((await tryLogin(marketplace, ann)).status, 400)
  assert.is((await off(ann.id, 'session')).status, 200)
  // Nothing is turned off, so nobody gets a letter that says so.
  assert.equal(Object.keys((await off(ann.id, 'session')).errors!), ['secondFactor'])
  assert.is((await tryLogin(marketplace, ann)).status, 200)
  assert.is((await admin.client.getTotp()).enabled, true)
  await marketplace.close()
})

test('a deployment warns of an administrator who signs in without a second factor', async () => {
  const warnings: string[] = []
  const marketplace = await openTestMarketplace({
    ...{ mode: 'serve', rateLimits: 'off', payments: 'sandbox' },
    log: line => line.type === 'warning' && warnings.push(line.message),
  })
  const told = () =>
    warnings.filter(message => message.includes(marketplace.admin.id) && message.includes('second factor'))
  assert.is(told().length, 1)
  const { secret } = await enrol(marketplace, marketplace.admin)
  nextStep(marketplace)
  const totp = totpCode(secret, marketplace.world.realNow())
  assert.is((await tryLogin(marketplace, marketplace.admin, { totp })).status, 200)
  assert.is(told().length, 1)
  await marketplace.close()
})

test.run()
