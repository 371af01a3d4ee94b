// engines: embedded; process: shared
/** Every known-answer vector, and the properties that vectors cannot show. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HeaderValue, sign, signatureHeaders, standardHeaders, verify } from '../../src/api/signature.ts'

interface Vector {
  name: string
  secret: string | string[]
  timestamp: HeaderValue | null
  signature: HeaderValue | null
  body?: string
  bodyHex?: string
  now: number
  expect: string
}
const fixture = JSON.parse(readFileSync(new URL('../../fixtures/signatures.json', import.meta.url), 'utf8'))

for (const vector of fixture.vectors as Vector[]) {
  test(`signature vector: ${vector.name} → ${vector.expect}`, () => {
    const body = vector.bodyHex === undefined ? Buffer.from(vector.body!) : Buffer.from(vector.bodyHex, 'hex')
    const { secret, now } = vector
    const verdict = verify({
      secret,
      now,
      body,
      timestamp: vector.timestamp ?? undefined,
      signature: vector.signature ?? undefined,
    })
    assert.is(verdict.ok ? 'ok' : verdict.reason, vector.expect)
    if (!verdict.ok) return
    const made = [secret].flat().map(one => sign(one, Number(vector.timestamp), body))
    assert.ok(made.includes(vector.signature as string), 'sign makes the same digest')
  })
}

for (const vector of fixture.standardWebhooks) {
  test(`Standard Webhooks vector: ${vector.name}`, () => {
    assert.equal(standardHeaders(vector.secret, vector.id, vector.timestampMs, vector.body), vector.headers)
  })
}

test('the two headers of a request verify', () => {
  const now = 1_767_225_600_123
  const headers = signatureHeaders('whsec_x', now, '{}')
  const verdict = verify({
    secret: 'whsec_x',
    timestamp: headers['X-Service-Timestamp'],
    signature: headers['X-Service-Signature'],
    body: '{}',
    now,
  })
  assert.equal(verdict, { ok: true })
})

test('a clock that is not a number refuses everything', () => {
  const headers = signatureHeaders('s', 1_767_225_600_000, '')
  const given = { timestamp: headers['X-Service-Timestamp'], signature: headers['X-Service-Signature'] }
  assert.equal(verify({ secret: 's', ...given, body: '', now: Number.NaN }).ok, false)
})

test('no flipped bit of a signature ever passes', () => {
  const now = 1_767_225_600_000
  const digest = sign('s', now, 'body')
  for (let bit = 0; bit < 256; bit++) {
    const bytes = Buffer.from(digest, 'hex')
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    const verdict = verify({
      secret: 's',
      timestamp: String(now),
      signature: bytes.toString('hex'),
      body: 'body',
      now,
    })
    assert.is(verdict.ok, false)
  }
})

test.run()
