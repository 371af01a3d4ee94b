// engines: embedded; process: shared
/** How long a session is good, and what is kept of where it began, to the millisecond. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations, limits } from '../../../src/api/limits.ts'
import { createAuthenticate, createSession } from '../../../src/market/accounts/credentials.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const { absoluteMs, idleMs, touchMs } = durations.session

async function open() {
  const bare = await openBareMarket()
  const { db, world } = bare.market
  const { id } = await bare.join('ann')
  const begin = (caller?: Parameters<typeof createSession>[3]) => db.write(tx => createSession(tx, world, id, caller))
  const isGood = async (token: string, touch?: Parameters<typeof createAuthenticate>[1]) =>
    (await db.read(q => createAuthenticate(world, touch).session(q, token))) !== null
  const rows = () => db.read(q => q.all('SELECT address, user_agent FROM sessions ORDER BY id'))
  return { ...bare, db, begin, isGood, rows }
}

test('it is good for less than seven days without use', async () => {
  const { world, begin, isGood, close } = await open()
  const token = await begin()
  assert.match(token, /^[\w-]{43}$/)
  world.tick(idleMs - 1)
  assert.ok(await isGood(token))
  world.tick(1)
  assert.not(await isGood(token))
  await close()
})

test('it is good for less than thirty days, however much it is used', async () => {
  const { db, world, begin, isGood, close } = await open()
  const token = await begin()
  world.tick(absoluteMs - 1)
  await db.write(tx => tx.run('UPDATE sessions SET seen_at = $1', [world.now()]))
  assert.ok(await isGood(token))
  world.tick(1)
  assert.not(await isGood(token))
  await close()
})

test('a use that is not written yet counts, for as long as a written one would', async () => {
  const { world, begin, isGood, close } = await open()
  const token = await begin()
  const used = world.now()
  const touch = Object.assign(() => {}, { usedAt: () => used + touchMs })
  world.tick(idleMs + touchMs - 1)
  assert.equal([await isGood(token), await isGood(token, touch)], [false, true])
  world.tick(1)
  assert.not(await isGood(token, touch))
  await close()
})

test('a new one removes those that are over, and no other', async () => {
  const { db, world, begin, isGood, rows, close } = await open()
  await begin()
  world.tick(1)
  const kept = await begin()
  world.tick(idleMs - 1)
  await begin()
  assert.equal([(await rows()).length, await isGood(kept)], [2, true])
  await db.write(tx =>
    tx.run('UPDATE sessions SET seen_at = $1, created_at = $2', [world.now(), world.now() - absoluteMs]),
  )
  await begin()
  assert.is((await rows()).length, 1)
  await close()
})

test('an account has fifty', async () => {
  const { world, begin, isGood, rows, close } = await open()
  const tokens: string[] = []
  for (let n = 0; n <= limits.session.perAccount; n++) {
    tokens.push(await begin())
    world.tick(1)
  }
  assert.is((await rows()).length, limits.session.perAccount)
  assert.equal([await isGood(tokens[0]!), await isGood(tokens[1]!)], [false, true])
  await close()
})

test('where it began is kept, of the browser’s name the first 200 characters', async () => {
  const { begin, rows, close } = await open()
  await begin()
  await begin({ address: '192.0.2.1' })
  await begin({ address: '192.0.2.2', userAgent: 'x'.repeat(201) })
  assert.equal(await rows(), [
    { address: null, user_agent: null },
    { address: '192.0.2.1', user_agent: null },
    { address: '192.0.2.2', user_agent: 'x'.repeat(200) },
  ])
  await close()
})

test.run()
