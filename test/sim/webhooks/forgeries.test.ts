// engines: embedded; process: shared
/**
 * Webhooks that are made by hand: forged ones are refused and dressed ones accepted, by our own verification and by that of Standard
 * Webhooks, and each differs from a genuine one in what it says alone.
 */
import { Webhook } from 'standardwebhooks'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, verify } from '../../../src/api/signature.ts'
import { type Emission, emissionOf, replayOf, signedAnew, type Wanted } from '../../../src/sim/webhooks/emission.ts'
import { forgeries } from '../../../src/sim/webhooks/forgeries.ts'
import { eventNames } from '../../../src/sim/webhooks/sample-event.ts'
import { dresses } from '../../../src/sim/webhooks/unusual.ts'
import { createWorld } from '../../../src/world/real.ts'
import { createVirtualWorld } from '../../../src/world/virtual.ts'
import { sameAsKept } from '../../support/golden.ts'
import { inParagraphs, linesOf, otherPart } from '../golden/legible.ts'

const secret = 'whsec_c2VjcmV0IG9mIGEgdGVzdA=='
const usual: Wanted = {
  event: 'task.submitted',
  secret,
  callbackUrl: id => `http://127.0.0.1:1/${id}`,
  change: payload => payload,
  headers: [],
}
const world = createWorld({ requireHttps: false, allowLoopback: true })
const made = (more: Partial<Wanted>) => emissionOf(world, { ...usual, ...more })
/** In a world of its own, so that all have the same ids and moments. */
const madeThen = (more: Partial<Wanted> = {}) => emissionOf(createVirtualWorld(), { ...usual, ...more })
const plain = madeThen()

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

/** What differs from the genuine webhook; `-` is not there. */
function differenceOf({ headers, body }: Emission): string[] {
  const names = [...new Set([...Object.keys(plain.headers), ...Object.keys(headers)])]
  const changed = names.filter(name => headers[name] !== plain.headers[name])
  const others = Object.fromEntries(changed.map(name => [name, headers[name] ?? '-']))
  return linesOf({ ...others, ...(body !== plain.body && { body: otherPart(body, plain.body) }) })
}

test('each event looks as the marketplace sends it', () => {
  const told = eventNames.map(event => {
    const { body, headers } = madeThen({ event })
    return [event, ...linesOf(event === usual.event ? { ...headers, body } : { body })].join('\n')
  })
  sameAsKept('test/sim/golden/events.txt', inParagraphs(told))
})

test('each forgery is a genuine webhook but for what it says', () => {
  const told = forgeries.map(forgery => {
    const { name, does, right } = forgery
    return [`${name}: ${does} (a right agent ${right})`, ...differenceOf(madeThen({ forgery }))].join('\n')
  })
  sameAsKept('test/sim/golden/forgeries.txt', inParagraphs(told))
})

test('each unusual webhook is a genuine one but for what it says', () => {
  const told = dresses.map(dress => [`${dress.name}: ${dress.does}`, ...differenceOf(madeThen({ dress }))].join('\n'))
  sameAsKept('test/sim/golden/unusual.txt', inParagraphs(told))
})

test('headers that are given take the place of others in any case, at the next attempt too; a copy differs by its id alone', () => {
  const world = createVirtualWorld()
  const headers = [
    ['x-service-attempt', '7'],
    ['X-Trace', '1'],
  ] as const
  const first = emissionOf(world, { ...usual, headers })
  const { 'X-Service-Attempt': _, ...genuine } = plain.headers
  assert.equal(first, { ...plain, headers: { ...genuine, 'x-service-attempt': '7', 'X-Trace': '1' } })
  world.tick(5_000)
  const second = signedAnew(world, { secret, headers: [] }, { ...first, attempt: 2 })
  const { taskId, deliveryId } = second
  assert.equal([taskId, deliveryId, second.body], [plain.taskId, plain.deliveryId, plain.body])
  assert.is(second.headers['X-Service-Attempt'], '2')
  assert.is(second.headers[TIMESTAMP_HEADER], String(world.realNow()))
  const { 'x-service-attempt': given } = signedAnew(world, { secret, headers }, { ...first, attempt: 2 }).headers
  assert.is(given, '7')
  const copy = replayOf(world, second)
  assert.is.not(copy.deliveryId, deliveryId)
  const copied = { ...second.headers, 'X-Service-Delivery-Id': copy.deliveryId }
  assert.equal(copy, { ...second, deliveryId: copy.deliveryId, headers: copied })
})

test.run()
