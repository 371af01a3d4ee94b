// engines: embedded; process: shared
/** When credentials were used: noted once a minute, written together, forgotten when they are written. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createTouch } from '../../../src/market/accounts/credentials.ts'
import type { Actor } from '../../../src/market/market.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const MINUTE = 60_000

async function open() {
  const bare = await openBareMarket()
  const { market, world, settled } = bare
  const user = await bare.join('ann')
  const touch = createTouch(market)
  let writes = 0
  const write = market.db.write.bind(market.db)
  market.db.write = work => {
    writes++
    return write(work)
  }
  return {
    ...bare,
    touch: (credential: string, via: Actor['via'] = 'session') => touch({ user, via, credential }),
    usedAt: (credential: string) => touch.usedAt!(credential),
    /** Both clocks, and what is due by then. */
    async pass(ms: number) {
      world.tick(ms)
      await settled()
    },
    writes: () => writes,
  }
}

test('uses of one second are one write, and of one credential one a minute', async () => {
  const { touch, pass, writes, close } = await open()
  for (const credential of ['one', 'two', 'one', 'two']) touch(credential)
  await pass(999)
  assert.is(writes(), 0)
  await pass(1)
  assert.is(writes(), 1)
  touch('one')
  await pass(MINUTE - 1_001)
  touch('one')
  await pass(1_000)
  assert.is(writes(), 1, 'less than a minute after the last one')
  touch('one')
  await pass(1_000)
  assert.is(writes(), 2)
  await close()
})

test('a use is remembered for a minute and no longer, so that memory does not grow with every credential', async () => {
  const { world, touch, usedAt, pass, close } = await open()
  const began = world.now()
  touch('one')
  assert.is(usedAt('one'), began)
  await pass(MINUTE - 1_001)
  touch('two')
  await pass(1_000)
  assert.is(usedAt('one'), began, 'one ms before')
  await pass(1)
  touch('three')
  await pass(1_000)
  assert.is(usedAt('one'), undefined)
  assert.is(usedAt('two'), began + MINUTE - 1_001)
  await close()
})

test('a signature is no credential that is noted', async () => {
  const { touch, usedAt, pass, writes, close } = await open()
  touch('sig', 'signature')
  await pass(2_000)
  assert.equal([usedAt('sig'), writes()], [undefined, 0])
  await close()
})

test('a database that is away costs the note alone', async () => {
  const { market, touch, pass, close } = await open()
  market.db.write = async () => {
    throw new Error('away')
  }
  touch('one')
  await pass(1_000)
  Reflect.deleteProperty(market.db, 'write')
  await close()
})

test.run()
