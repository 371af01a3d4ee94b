// engines: embedded; process: shared
/** Codes of an authenticator app, step by step. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newTotpSecret, otpauthUrl, stepOf, totpCode } from '../../../src/market/accounts/totp.ts'
import { createVirtualWorld } from '../../../src/world/virtual.ts'

const NOW = 1_767_225_600_000
const STEP = 30_000
const secret = newTotpSecret(createVirtualWorld())

test('a secret has 20 bytes in base32', () => {
  assert.match(secret, /^[A-Z2-7]{32}$/)
})

test('an app reads who it is for, and what every app takes', () => {
  const url = new URL(otpauthUrl(secret, 'ann@example.com', 'market.example'))
  assert.is(url.protocol, 'otpauth:')
  assert.is(decodeURIComponent(url.pathname.split('/').at(-1)!), 'market.example:ann@example.com')
  const { issuer, secret: told, algorithm, digits, period } = Object.fromEntries(url.searchParams)
  assert.equal([issuer, told, algorithm, digits, period], ['market.example', secret, 'SHA1', '6', '30'])
})

test('a code is good in its step and in the ones beside it, and says which step it is of', () => {
  const code = totpCode(secret, NOW)
  const step = NOW / STEP
  for (const at of [NOW - STEP, NOW - 1, NOW, NOW + STEP - 1, NOW + 2 * STEP - 1])
    assert.is(stepOf(secret, code, at), step)
  for (const at of [NOW - STEP - 1, NOW + 2 * STEP]) assert.is(stepOf(secret, code, at), null)
})

test('a code has six digits, typed with or without spaces', () => {
  const code = totpCode(secret, NOW)
  assert.is(stepOf(secret, ` ${code.slice(0, 3)} ${code.slice(3)}\t`, NOW), NOW / STEP)
  for (const typed of ['', code.slice(1), `${code}0`, `0${code}`, `x${code.slice(1)}`, `${code}x`])
    assert.is(stepOf(secret, typed, NOW), null, typed)
})

test.run()
