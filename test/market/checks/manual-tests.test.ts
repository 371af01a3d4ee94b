// engines: embedded; process: shared
/** How many connection tests run at once, and how they are shared between builders. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Refusal } from '../../../src/api/failures.ts'
import { manualTests } from '../../../src/api/limits.ts'
import { withTestSlot } from '../../../src/market/checks/manual-tests.ts'
import { Memory } from '../../../src/market/market.ts'
import { createVirtualWorld } from '../../../src/world/virtual.ts'

function open() {
  const world = createVirtualWorld()
  const market = { memory: new Memory(), world }
  const ends: (() => void)[] = []
  /** Begins a test that ends when it is told to; what it is refused with. */
  const begin = async (builder: string) => {
    let end = () => {}
    const held = new Promise<void>(resolve => {
      end = resolve
    })
    const refused = await Promise.race([
      withTestSlot(market, builder, () => held).then(
        () => null,
        (refusal: Refusal) => refusal,
      ),
      new Promise<null>(resolve => setImmediate(resolve, null)),
    ])
    if (!refused) ends.push(end)
    return refused
  }
  /** Begins as many as it may; how many that are. */
  const beginAll = async (builder: string) => {
    for (let count = 0; ; count++) if (await begin(builder)) return count
  }
  return { world, begin, beginAll, ends }
}

const builders = (count: number) => Array.from({ length: count }, (_, n) => `builder${n}`)

test('builders who begin all that they may leave room for as many again, and for the next one', async () => {
  const { begin, beginAll } = open()
  const counts: number[] = []
  for (const name of builders(45)) counts.push(await beginAll(name))
  assert.is(counts[0], manualTests.perBuilder)
  assert.equal([Math.min(...counts), counts.at(-1)], [1, 1], `${counts}`)
  assert.is(await begin('honest'), null)
})

test('where all slots are taken, a builder is told in how many seconds the first must be free', async () => {
  const { world, begin, beginAll, ends } = open()
  await beginAll('first')
  world.tick(20_000)
  for (const name of builders(manualTests.overall)) await beginAll(name)
  assert.is(ends.length, manualTests.overall)
  const full = await begin('honest')
  assert.equal(
    [full?.status, full?.message, full?.headers],
    [429, 'As many connection tests run as may at once; try again in 25 s', { 'retry-after': '25' }],
  )
  const own = await begin('first')
  assert.equal([own?.status, own?.headers], [409, { 'retry-after': '25' }])
  ends[0]!()
  await new Promise(setImmediate)
  assert.is(await begin('honest'), null)
  world.tick(manualTests.longestMs * 2)
  assert.equal((await begin('late'))?.headers, { 'retry-after': '1' }, 'one that takes longer than it may')
})

test.run()
