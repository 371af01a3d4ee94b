// engines: embedded; process: shared
/** What a request under an Idempotency-Key finds, to the millisecond. Source: A-39. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { claim, isClaimed, isKept, type KeyedRequest, keep, release } from '../../../src/market/requests/idempotency.ts'
import { openBareMarket } from '../../support/bare-market.ts'
import { refused } from '../../support/refused.ts'

const HOUR = 3_600_000
const RUNNING = 120_000

async function open() {
  const bare = await openBareMarket()
  const { id: userId } = await bare.join('ann')
  const { db, world } = bare.market
  const request: KeyedRequest = { userId, method: 'POST', path: '/x', key: 'k', fingerprint: 'one', secret: false }
  return {
    ...bare,
    request,
    claim: (more: Partial<KeyedRequest> = {}) => db.write(tx => claim(tx, world, { ...request, ...more })),
    keep: (status: number, more: Partial<KeyedRequest> = {}) =>
      db.write(tx => keep(tx, bare.market, { ...request, ...more }, { status, text: 'answer' })),
  }
}

test('the first claims the key; while it runs, and for two minutes at most, no other does', async () => {
  const { market, world, request, claim, close } = await open()
  assert.is(await market.db.read(q => isClaimed(q, request)), false)
  assert.is(await claim(), null)
  assert.is(await market.db.read(q => isClaimed(q, request)), true)
  world.tick(RUNNING - 1)
  await refused(claim(), 'idempotency_running')
  await refused(claim({ fingerprint: 'two' }), 'idempotency_reused')
  world.tick(1)
  assert.is(await claim({ fingerprint: 'two' }), null)
  await close()
})

test('its answer is given again for 24 hours, to the same request alone', async () => {
  const { world, claim, keep, close } = await open()
  await claim()
  await keep(201)
  world.tick(24 * HOUR - 1)
  assert.equal(await claim(), { status: 201, text: 'answer' })
  await refused(claim({ fingerprint: 'two' }), 'idempotency_reused')
  world.tick(1)
  assert.is(await claim({ fingerprint: 'two' }), null)
  await close()
})

test('another account, method, path or key is another request', async () => {
  const { claim, keep, join, close } = await open()
  const { id: userId } = await join('bob')
  await claim()
  await keep(200)
  for (const more of [{ userId }, { method: 'PUT' }, { path: '/y' }, { key: 'l' }]) assert.is(await claim(more), null)
  await close()
})

test('an answer with a secret is not kept, unless it is a refusal', async () => {
  const { claim, keep, close } = await open()
  for (const [key, status] of [
    ['a', 200],
    ['b', 299],
  ] as const) {
    await claim({ key, secret: true })
    await keep(status, { key, secret: true })
    await refused(claim({ key, secret: true }), 'secret_shown_once')
  }
  await claim({ key: 'c', secret: true })
  await keep(300, { key: 'c', secret: true })
  assert.equal(await claim({ key: 'c', secret: true }), { status: 300, text: 'answer' })
  await close()
})

test('a key is freed by a request whose answer is not kept, and by none that has one', async () => {
  const { market, request, claim, keep, close } = await open()
  const free = () => market.db.write(tx => release(tx, request))
  await claim()
  await free()
  assert.is(await claim({ fingerprint: 'two' }), null)
  await keep(200)
  await free()
  await refused(claim(), 'idempotency_reused')
  await close()
})

test('what may be answered otherwise the next time is not kept', () => {
  const kept = [200, 201, 400, 402, 404, 405, 409, 428, 430, 499]
  const not = [401, 403, 429, 500, 503]
  const keptWhen = (isFull: boolean) => [...kept, ...not].filter(status => isKept(status, { isFull }))
  assert.equal(keptWhen(false), kept)
  assert.equal(keptWhen(true), [200, 201], 'a full database keeps no refusal')
})

test.run()
