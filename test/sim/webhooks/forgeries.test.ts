// engines: embedded; process: shared
/** Forged webhooks are refused and dressed ones accepted, by our own verification and by that of Standard Webhooks. */
import { Webhook } from 'standardwebhooks'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, verify } from '../../../src/api/signature.ts'
import { type Emission, emissionOf, type Wanted } from '../../../src/sim/webhooks/emission.ts'
import { forgeries } from '../../../src/sim/webhooks/forgeries.ts'
import { dresses } from '../../../src/sim/webhooks/unusual.ts'
import { createWorld } from '../../../src/world/real.ts'

const secret = 'whsec_c2VjcmV0IG9mIGEgdGVzdA=='
const world = createWorld({ requireHttps: false, allowLoopback: true })
const made = (more: Partial<Wanted>) =>
  emissionOf(world, {
    event: 'task.submitted',
    secret,
    callbackUrl: id => `http://127.0.0.1:1/${id}`,
    change: payload => payload,
    headers: [],
    ...more,
  })

function isAccepted({ headers, body }: Emission): boolean {
  const [timestamp, signature] = [headers[TIMESTAMP_HEADER], headers[SIGNATURE_HEADER]]
  return verify({ secret, timestamp, signature, body, now: Date.now() }).ok
}

function isAcceptedByStandard({ headers, body }: Emission): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

test('a genuine webhook is accepted by both', () => {
  assert.ok(isAccepted(made({})))
  assert.ok(isAcceptedByStandard(made({})))
})

for (const forgery of forgeries) {
  test(`${forgery.name}: ${forgery.does}`, () => {
    const forged = made({ forgery })
    const isGenuine = forgery.right === 'works once'
    assert.is(isAccepted(forged), isGenuine)
    assert.is(isAcceptedByStandard(forged), isGenuine)
    // Any server takes its headers, so that the agent itself decides.
    const size = Object.entries(forged.headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
    assert.ok(size < 12_000)
    for (const value of Object.values(forged.headers)) assert.match(value, /^[ -~]*$/)
  })
}

for (const dress of dresses) {
  test(`${dress.name}: ${dress.does}`, () => {
    const plain = made({})
    const dressed = made({ dress })
    assert.ok(isAccepted(dressed))
    assert.ok(isAcceptedByStandard(dressed))
    const [{ data: was }, { data: is, event }] = [JSON.parse(plain.body), JSON.parse(dressed.body)]
    assert.is(event, 'task.submitted')
    for (const name of ['agentId', 'agreedPrice', 'status']) assert.equal(is[name], was[name])
    const { taskId, deliveryId, body, headers } = dressed
    const rest = (text: string, id: string) => text.replaceAll(id, '').replace(/"timestamp":"[^"]+"/, '')
    const isUnusual =
      rest(body, taskId) !== rest(plain.body, plain.taskId) ||
      headers['content-type'] !== 'application/json' ||
      headers['X-Service-Attempt'] !== '1' ||
      Date.now() - Number(headers[TIMESTAMP_HEADER]) > 60_000
    assert.ok(isUnusual)
    assert.is(headers['X-Service-Delivery-Id'], deliveryId)
  })
}

test('names are unique words', () => {
  const names = [...forgeries, ...dresses].map(({ name }) => name)
  assert.is(new Set(names).size, names.length)
  for (const name of names) assert.match(name, /^[a-z-]+$/)
})

test.run()
