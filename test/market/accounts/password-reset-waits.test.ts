// engines: embedded, postgres at length; process: shared
/** A new password by mail ends the waiting that wrong ones have brought. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { guessing } from '../../../src/api/limits.ts'
import type { LogEntry } from '../../../src/market/log.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

const NEW = 'a new long password'

/** A client address. The rate limit of one would refuse the sixth attempt by itself. */
const from = (n: number) => ({ 'x-forwarded-for': `203.0.${n}.1` })

async function open() {
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({ rateLimits: 'strict', trustProxy: 1, log: line => log.push(line) })
  const ann = await marketplace.join('ann')
  const signIn = async (n: number, password: string, as: 'nobody' | 'session' = 'nobody') =>
    (await ann.ask('POST', '/api/auth/login', { email: ann.email, password }, as, from(n))).status
  const change = async (n: number, currentPassword: string) => {
    const body = { currentPassword, newPassword: 'a third password' }
    return (await ann.ask('POST', '/api/auth/password', body, 'session', from(n))).status
  }
  /** Sets the new password, from an address, with the token that the simulator shows in its log. */
  const reset = async (n: number) => {
    await marketplace.visitor.ask('POST', '/api/auth/password-reset', { email: ann.email })
    await marketplace.runDue()
    const letters = log.flatMap(line => (line.type === 'mail' && line.mail ? [line.mail.text] : []))
    const token = letters.map(text => /^([\w-]{43})$/m.exec(text)?.[1]).find(found => found !== undefined)
    const body = { token, password: NEW }
    return (await marketplace.visitor.ask('POST', '/api/auth/password-reset/confirm', body, 'nobody', from(n))).status
  }
  return { marketplace, ann, signIn, change, reset }
}

test("a reset ends the waiting that strangers' guesses have brought", async () => {
  const { marketplace, ann, signIn, reset } = await open()
  for (let n = 0; n < guessing.rules.newcomers.free; n++) assert.is(await signIn(n, 'a guess'), 401)
  assert.is(await signIn(100, ann.password), 429)
  assert.is(await reset(100), 200)
  assert.is(await signIn(100, NEW), 200)
  await marketplace.close()
})

test("a session elsewhere opens the way that strangers' guesses have closed, by a new password", async () => {
  const { marketplace, ann, signIn, change } = await open()
  for (let n = 0; n < guessing.rules.newcomers.free; n++) assert.is(await signIn(n, 'a guess'), 401)
  assert.is(await signIn(100, ann.password), 429)
  assert.is(await change(101, ann.password), 200)
  assert.is(await signIn(102, 'a third password'), 200)
  await marketplace.close()
})

test('a reset ends the waiting that wrong passwords of a signed-in owner have brought', async () => {
  const { marketplace, ann, signIn, change, reset } = await open()
  for (let n = 0; n < guessing.rules.own.free; n++) assert.is(await change(n, 'a guess'), 401)
  assert.is(await change(30, ann.password), 429)
  assert.is(await reset(30), 200)
  assert.is(await signIn(31, NEW, 'session'), 200)
  assert.is(await change(32, NEW), 200)
  await marketplace.close()
})

test.run()
