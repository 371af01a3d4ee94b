// engines: embedded; process: shared
/** Caches with a bound, in bytes or in entries. Source: A-49. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { boundedCache, bytesOfText } from '../../src/shared/bounded-cache.ts'
import { until } from '../support/patience.ts'

const OVERHEAD = 200

test('keys, values and what the cache needs itself count, and never exceed the bound in bytes', () => {
  const cost = OVERHEAD + bytesOfText('k1') + 100
  assert.is(cost, OVERHEAD + 4 + 100)
  const cache = boundedCache<string>({ maxBytes: 2 * cost, bytesOf: () => 100 })
  cache.set('k1', 'one')
  assert.is(cache.size, cost)
  cache.set('k2', 'two')
  assert.is(cache.size, 2 * cost)
  assert.is(cache.get('k1'), 'one')
  cache.set('k3', 'three')
  assert.equal(
    [cache.get('k1'), cache.get('k2'), cache.get('k3')],
    ['one', undefined, 'three'],
    'the one used longest ago',
  )
  cache.delete('k1')
  assert.equal([cache.get('k1'), cache.size], [undefined, cost])
  cache.clear()
  assert.equal([cache.get('k3'), cache.size], [undefined, 0])
})

test('what alone is larger than the bound is not kept, and drives nothing out', () => {
  const cache = boundedCache<string>({ maxBytes: 2 * (OVERHEAD + 2 + 100), bytesOf: value => value.length })
  const lengths = () => ['a', 'b', 'c'].map(key => cache.get(key)?.length)
  for (const key of ['a', 'b']) cache.set(key, 'x'.repeat(100))
  cache.set('c', 'x'.repeat(OVERHEAD + 2 + 200 + 1))
  assert.equal(lengths(), [100, 100, undefined])
  cache.set('c', 'x'.repeat(OVERHEAD + 2 + 200))
  assert.equal(lengths(), [undefined, undefined, OVERHEAD + 2 + 200])
})

test('of entries there are as many as the bound says, and the one used longest ago goes first', () => {
  const cache = boundedCache<string>({ maxEntries: 3 })
  for (const key of ['a', 'b', 'c']) cache.set(key, `value ${key}`)
  cache.get('a')
  cache.set('d', 'value d')
  assert.equal([...cache.values()].sort(), ['value a', 'value c', 'value d'])
  for (let n = 0; n < 1_000; n++) cache.set(`key ${n}`, 'x')
  assert.equal([[...cache.values()].length, cache.size], [3, 3])
})

test('each value that leaves is told once: dropped, replaced, deleted, cleared, too old or too large for its place', () => {
  let now = 1
  const left: string[] = []
  const onLeave = (value: string) => void left.push(value)
  const since = () => left.splice(0).sort()
  const cache = boundedCache<string>({ maxEntries: 2, onLeave, now: () => now })
  cache.set('a', 'a1')
  cache.set('a', 'a1')
  cache.set('b', 'b1')
  assert.equal(since(), [])
  cache.set('a', 'a2')
  assert.equal(since(), ['a1'])
  cache.set('c', 'c1')
  assert.equal(since(), ['b1'])
  cache.delete('a')
  cache.delete('a')
  assert.equal(since(), ['a2'])
  cache.set('d', 'd1', 10)
  now += 10
  assert.equal([cache.get('d'), cache.get('d')], [undefined, undefined])
  assert.equal(since(), ['d1'])
  cache.set('d', 'd2')
  cache.clear()
  cache.clear()
  assert.equal(since(), ['c1', 'd2'])
  const small = boundedCache<string>({ maxBytes: 300, bytesOf: value => value.length, onLeave })
  small.set('a', 'x')
  small.set('a', 'x'.repeat(300))
  assert.equal([small.get('a'), small.size, since()], [undefined, 0, ['x']])
})

test('a time to live ends at its last millisecond; without one a value stays, and with none it does not come', () => {
  let now = 1_000
  const cache = boundedCache<number>({ maxEntries: 4, now: () => now })
  cache.set('brief', 1, 1)
  cache.set('long', 2, 1_000)
  cache.set('ever', 3)
  const found = () => ['brief', 'long', 'ever', 'gone'].map(key => cache.get(key))
  assert.equal(found(), [1, 2, 3, undefined])
  now += 1
  assert.equal(found(), [undefined, 2, 3, undefined])
  now += 998
  assert.equal(found(), [undefined, 2, 3, undefined])
  now += 1
  assert.equal(found(), [undefined, undefined, 3, undefined])
  cache.set('gone', 4)
  cache.set('gone', 5, 0)
  assert.equal(found(), [undefined, undefined, 3, undefined])
  now += 1e9
  assert.is(cache.get('ever'), 3)
})

test('without a clock of its own a time to live is real time', async () => {
  const cache = boundedCache<string>({ maxEntries: 1 })
  cache.set('a', 'x', 1_000)
  assert.is(cache.get('a'), 'x')
  await until('its end', () => cache.get('a') === undefined)
})

test.run()
