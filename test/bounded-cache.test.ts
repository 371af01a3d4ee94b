// engines: embedded; process: shared
/** Caches with a bound in bytes. Source: A-49. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { boundedCache, bytesOfText } from '../src/bounded-cache.ts'

const OVERHEAD = 200

test('keys, values and what the cache needs itself count, and never exceed the bound', () => {
  const cost = OVERHEAD + bytesOfText('k1') + 100
  assert.is(cost, OVERHEAD + 4 + 100)
  const cache = boundedCache<string>(2 * cost, () => 100)
  cache.set('k1', 'one')
  assert.is(cache.bytes, cost)
  cache.set('k2', 'two')
  assert.is(cache.bytes, 2 * cost)
  assert.is(cache.get('k1'), 'one')
  cache.set('k3', 'three')
  assert.equal(
    [cache.get('k1'), cache.get('k2'), cache.get('k3')],
    ['one', undefined, 'three'],
    'the one used longest ago',
  )
  cache.delete('k1')
  assert.equal([cache.get('k1'), cache.bytes], [undefined, cost])
  cache.clear()
  assert.equal([cache.get('k3'), cache.bytes], [undefined, 0])
})

test('what alone is larger than the bound is not kept, and drives nothing out', () => {
  const cache = boundedCache<string>(OVERHEAD + 2 + 100, value => value.length)
  cache.set('a', 'x'.repeat(100))
  assert.is(cache.get('a')?.length, 100)
  cache.set('b', 'x'.repeat(101))
  assert.is(cache.get('b'), undefined)
})

test.run()
