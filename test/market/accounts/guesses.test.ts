// engines: embedded, postgres at length; process: shared
/** Guesses at passwords and codes, over the wire, from as many addresses as it takes. Source: A-193. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations, guessing } from '../../../src/api/limits.ts'
import { totpCode } from '../../../src/market/accounts/totp.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { checkedFetch } from '../../support/contract.ts'
import { unstamped } from '../../support/log-shapes.ts'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { tenNetworksGuess } from './ten-networks.ts'

const MINUTE = 60_000
const { network, newcomers, code } = guessing.rules
const HOME = '192.0.2.1'

type SignIn = Extract<LogEntry, { type: 'sign_in' }>

async function open() {
  const log: SignIn[] = []
  const marketplace = await openTestMarketplace({
    rateLimits: 'strict',
    trustProxy: 1,
    log: line => line.type === 'sign_in' && log.push(unstamped(line) as SignIn),
  })
  // No proxy of ours stands before the tests' own people, whose address is that of their connection.
  const ann = await marketplace.join('ann')
  return { marketplace, ann, log }
}

const login = (marketplace: TestMarketplace, address: string, email: string, password: string, more: object = {}) =>
  new HttpUser(marketplace.url, checkedFetch).ask('POST', '/api/auth/login', { email, password, ...more }, 'nobody', {
    'x-forwarded-for': address,
  })

const there = (n: number) => `203.${n >> 8}.${n & 255}.1`
const range = (count: number) => Array.from({ length: count }, (_, i) => i)
const statusOf = async (answer: ReturnType<typeof login>) => (await answer).status

/** How often each status was given. */
function tallyOf(statuses: readonly number[]) {
  const tally: Record<number, number> = {}
  for (const status of statuses) tally[status] = (tally[status] ?? 0) + 1
  return tally
}

test('of 100 guesses from 100 networks at one moment few reach the password, and the owner gets in at home', async () => {
  const { marketplace, ann, log } = await open()
  assert.is(await statusOf(login(marketplace, HOME, ann.email, ann.password)), 200)
  log.length = 0
  const guesses = await Promise.all(range(100).map(n => login(marketplace, there(n), ann.email, `guess ${n}`)))
  assert.equal(tallyOf(guesses.map(({ status }) => status)), { 401: newcomers.free, 429: 100 - newcomers.free })
  assert.is(log.filter(({ outcome }) => outcome === 'wrong_password').length, newcomers.free)
  assert.is(log.filter(({ outcome }) => outcome === 'too_early').length, 100 - newcomers.free)
  const refused = guesses.find(({ status }) => status === 429)!
  assert.is(refused.headers.get('retry-after'), '1')
  assert.match(refused.error!, 'try again in 1 s')
  assert.is(
    await statusOf(login(marketplace, HOME, ann.email, ann.password)),
    200,
    'from where the owner signed in before',
  )
  assert.is(
    await statusOf(login(marketplace, there(200), ann.email, ann.password)),
    429,
    'from elsewhere it has to wait',
  )
  marketplace.world.tick(1000)
  assert.is(await statusOf(login(marketplace, there(201), ann.email, ann.password)), 200)
  await marketplace.close()
})

test('ten networks that guess do not keep the owner out who comes from new addresses', async () => {
  const { marketplace } = await open()
  await tenNetworksGuess(marketplace, [marketplace.url])
  await marketplace.close()
})

test('whoever sends the code of the second factor along does not wait for strangers', async () => {
  const { marketplace, ann } = await open()
  const { email, password } = ann
  const { secret } = await ann.client.beginTotp({ password })
  const { recoveryCodes } = await ann.client.confirmTotp({ code: totpCode(secret, marketplace.world.realNow()) })
  marketplace.world.tick(MINUTE)
  await Promise.all(range(newcomers.free).map(n => login(marketplace, there(n), email, 'a guess')))
  const from = (n: number, more: object) => statusOf(login(marketplace, there(n), email, password, more))
  assert.is(await from(300, {}), 429)
  const totp = totpCode(secret, marketplace.world.realNow())
  const wrong = String((Number(totp) + 1) % 1e6).padStart(6, '0')
  assert.is(await from(301, { totp: wrong }), 429)
  assert.is(await from(302, { totp }), 200)
  assert.is(await from(303, { totp }), 429, 'a used code speaks for nobody')
  assert.is(await from(304, { recoveryCode: recoveryCodes[1]!.toUpperCase() }), 200)
  assert.is(await from(305, { recoveryCode: recoveryCodes[1] }), 429)
  await marketplace.close()
})

test('whoever is signed in to the account does not wait for strangers, wherever they are', async () => {
  const { marketplace, ann } = await open()
  await Promise.all(range(newcomers.free).map(n => login(marketplace, there(n), ann.email, 'a guess')))
  const { email, password } = ann
  const elsewhere = { 'x-forwarded-for': there(300) }
  assert.is((await ann.ask('POST', '/api/auth/login', { email, password }, 'session', elsewhere)).status, 200)
  await marketplace.close()
})

test('the wait for one account at all new networks grows to two minutes, and an hour of silence ends it', async () => {
  const { marketplace, ann } = await open()
  let n = 0
  const guess = () => login(marketplace, there(n++), ann.email, 'a guess')
  for (let i = 0; i < newcomers.free; i++) assert.is(await statusOf(guess()), 401)
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 120, 120]) {
    const early = await guess()
    assert.equal([early.status, early.headers.get('retry-after')], [429, String(seconds)])
    marketplace.world.tick(seconds * 1000)
    assert.is(await statusOf(guess()), 401)
  }
  marketplace.world.tick(newcomers.capMs + newcomers.forgottenMs)
  assert.equal(tallyOf(await Promise.all(range(newcomers.free).map(() => statusOf(guess())))), { 401: newcomers.free })
  await marketplace.close()
})

test('one address waits longer and longer for one account, not for another, and a right password ends it', async () => {
  const { marketplace, ann } = await open()
  const bob = await marketplace.join('bob')
  const at = there(1)
  const miss = () => login(marketplace, at, ann.email, 'a guess')
  for (let i = 0; i < network.free; i++) assert.is(await statusOf(miss()), 401)
  // The rate limit of five a minute would refuse the sixth by itself.
  marketplace.world.tick(network.baseMs - 1)
  await marketplace.pass(0)
  const early = await login(marketplace, at, ann.email, ann.password)
  assert.is(early.status, 429)
  marketplace.world.tick(MINUTE)
  assert.is(await statusOf(miss()), 401)
  const early2 = await login(marketplace, at, ann.email, ann.password)
  assert.equal([early2.status, early2.headers.get('retry-after')], [429, '60'])
  assert.is(await statusOf(login(marketplace, at, bob.email, bob.password)), 200)
  marketplace.world.tick(MINUTE)
  assert.is(await statusOf(login(marketplace, at, ann.email, ann.password)), 200)
  assert.is(await statusOf(miss()), 401)
  assert.is(await statusOf(login(marketplace, at, ann.email, ann.password)), 200)
  await marketplace.close()
})

test('an email that nobody has is answered alike, wait and words included', async () => {
  const { marketplace, ann } = await open()
  const told = async (email: string) => {
    const answers = []
    for (const n of range(newcomers.free + 3)) {
      const { status, error, headers } = await login(marketplace, there(n), email, 'a guess')
      answers.push([status, error, headers.get('retry-after')])
    }
    return answers
  }
  assert.equal(await told('nobody@example.com'), await told(ann.email))
  await marketplace.close()
})

test('a failed sign-in is logged with the account and the address, and without the email', async () => {
  const { marketplace, ann, log } = await open()
  log.length = 0
  await login(marketplace, there(7), ann.email, 'a guess')
  await login(marketplace, there(8), 'nobody@example.com', 'a guess')
  await login(marketplace, there(9), ann.email, ann.password)
  assert.equal(log, [
    { type: 'sign_in', outcome: 'wrong_password', userId: ann.id, address: there(7) },
    { type: 'sign_in', outcome: 'unknown_email', userId: null, address: there(8) },
    { type: 'sign_in', outcome: 'signed_in', userId: ann.id, address: there(9) },
  ])
  await marketplace.close()
})

test('codes of a second factor can not be tried through, and a recovery code gets its owner in meanwhile', async () => {
  const { marketplace, ann, log } = await open()
  assert.is(await statusOf(login(marketplace, HOME, ann.email, ann.password)), 200)
  const { secret } = await ann.client.beginTotp({ password: ann.password })
  const { recoveryCodes } = await ann.client.confirmTotp({ code: totpCode(secret, marketplace.world.realNow()) })
  const { email, password } = ann
  const wrong = String((Number(totpCode(secret, marketplace.world.realNow())) + 1) % 1e6).padStart(6, '0')
  const tries = await Promise.all(
    range(60).map(n => statusOf(login(marketplace, there(n), email, password, { totp: wrong }))),
  )
  assert.equal(tallyOf(tries), { 401: code.free, 429: 60 - code.free })
  assert.is(log.filter(({ outcome }) => outcome === 'wrong_code').length, code.free)
  assert.is(await statusOf(login(marketplace, HOME, email, password, { recoveryCode: recoveryCodes[0] })), 200)
  marketplace.world.tick(2 * MINUTE)
  assert.is(
    await statusOf(login(marketplace, HOME, email, password, { totp: totpCode(secret, marketplace.world.realNow()) })),
    200,
  )
  await marketplace.close()
})

test('strangers who know no password use up no guess at the code of its owner', async () => {
  const { marketplace, ann } = await open()
  const { email, password } = ann
  assert.is(await statusOf(login(marketplace, HOME, email, password)), 200)
  const { secret } = await ann.client.beginTotp({ password })
  await ann.client.confirmTotp({ code: totpCode(secret, marketplace.world.realNow()) })
  marketplace.world.tick(MINUTE)
  await Promise.all(range(code.free + 5).map(n => login(marketplace, there(n), email, 'a guess', { totp: '000000' })))
  const right = { totp: totpCode(secret, marketplace.world.realNow()) }
  assert.is(await statusOf(login(marketplace, HOME, email, password, right)), 200)
  await marketplace.close()
})

test('a second factor can not be turned off by trying codes through', async () => {
  const { marketplace, ann } = await open()
  const { password } = ann
  const { secret } = await ann.client.beginTotp({ password })
  const right = totpCode(secret, marketplace.world.realNow())
  await ann.client.confirmTotp({ code: right })
  const wrong = String((Number(right) + 1) % 1e6).padStart(6, '0')
  const remove = (n: number) =>
    ann.ask('DELETE', '/api/auth/totp', { password, totp: wrong }, 'session', { 'x-forwarded-for': there(n) })
  const tries: number[] = []
  for (const n of range(code.free + 3)) tries.push((await remove(n)).status)
  assert.equal(tallyOf(tries), { 401: code.free, 429: 3 })
  await marketplace.close()
})

test('the password of a session in other hands can not be tried through either', async () => {
  const { marketplace, ann } = await open()
  const change = (currentPassword: string, address: string) =>
    ann.ask('POST', '/api/auth/password', { currentPassword, newPassword: 'another long password' }, 'session', {
      'x-forwarded-for': address,
    })
  const tries = await Promise.all(range(20).map(async n => (await change(`guess ${n}`, there(n))).status))
  assert.equal(tallyOf(tries), { 401: guessing.rules.own.free, 429: 20 - guessing.rules.own.free })
  marketplace.world.tick(guessing.rules.own.baseMs)
  assert.is((await change(ann.password, there(99))).status, 200)
  await marketplace.close()
})

test('no wait outlives a clock that was set back, and rows that are over are removed', async () => {
  const { marketplace, ann } = await open()
  const { db } = marketplace.market
  await Promise.all(range(30).map(n => login(marketplace, there(n), ann.email, 'a guess')))
  if (db.shared) {
    await db.write(tx => tx.run('UPDATE guesses SET next_at = next_at + $1', [durations.dayMs]))
    const over = async () => {
      const sql = 'SELECT subject FROM guesses WHERE ends_at <= $1 ORDER BY subject'
      return (await db.read(q => q.all(sql, [marketplace.world.now()]))).length
    }
    const before = await over()
    assert.is(await statusOf(login(marketplace, there(60), ann.email, ann.password)), 200)
    assert.is(await over(), before + 1, 'of a right one nothing has to be kept')
    await marketplace.pass(2 * durations.dayMs)
    assert.equal(await db.read(q => q.all('SELECT subject FROM guesses ORDER BY subject')), [])
  }
  await marketplace.close()
})

test.run()
