// engines: embedded; process: shared
/** What waits for the callback of a test is forgotten with the test: an instance makes one for each heartbeat. Source: A-24. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { announceCallback, listenForCallback } from '../../../src/market/checks/callback-wait.ts'
import { Memory } from '../../../src/market/market.ts'
import { openBareMarket } from '../../support/bare-market.ts'

/** Tells how much lies in the maps that it holds. */
class CountedMemory extends Memory {
  readonly #maps = new Set<Map<unknown, unknown>>()

  override of<Part>(kind: new () => Part): Part {
    const part = super.of(kind)
    if (part instanceof Map) this.#maps.add(part)
    return part
  }

  get size() {
    return [...this.#maps].reduce((sum, { size }) => sum + size, 0)
  }
}

test('a wait takes room from its beginning to its end, whether it is answered or given up', async () => {
  const { market, close } = await openBareMarket()
  const memory = new CountedMemory()
  const [answered, givenUp] = ['one', 'two'].map(id => listenForCallback({ ...market, memory }, id))
  assert.is(memory.size, 2)
  const right = { isSigned: true, fault: null, finding: null }
  announceCallback({ memory }, 'one', right)
  assert.is(await answered!.wait(1_000), right)
  for (const each of [answered!, givenUp!]) each.close()
  assert.is(memory.size, 0)
  await close()
})

test.run()
