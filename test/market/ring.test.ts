// engines: embedded; process: shared
/** What is kept of what is added, by number and by size. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Ring } from '../../src/market/ring.ts'

const keptOf = (ring: Ring<string>) =>
  Array.from({ length: ring.last - ring.oldest + 1 }, (_, i) => ring.at(ring.oldest + i))

test('the newest are kept under their numbers, however often the array went round', () => {
  const ring = new Ring<string>({ count: 3, size: 100 })
  assert.equal([ring.oldest, ring.last, keptOf(ring)], [1, 0, []])
  for (let i = 1; i <= 10; i++) ring.add(`item ${i}`, 1)
  assert.equal([ring.oldest, ring.last, keptOf(ring)], [8, 10, ['item 8', 'item 9', 'item 10']])
  assert.equal([ring.at(7), ring.at(11), ring.at(Number.NaN)], [undefined, undefined, undefined])
})

test('the oldest go until the rest has room, and one without room goes too', () => {
  const ring = new Ring<string>({ count: 10, size: 10 })
  for (const size of [4, 4, 2]) ring.add(`of ${size}`, size)
  assert.is(keptOf(ring).length, 3)
  ring.add('of 5', 5)
  assert.equal(keptOf(ring), ['of 2', 'of 5'])
  ring.add('of 11', 11)
  assert.equal([ring.oldest, ring.last, keptOf(ring)], [6, 5, []])
  ring.add('of 10', 10)
  assert.equal(keptOf(ring), ['of 10'])
})

test.run()
