// engines: embedded; process: shared
/** Who holds bytes gives way to who holds less, and nobody holds more than a share. Source: A-49. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BufferedBytes } from '../../../src/web/bodies/buffered-bytes.ts'

test('an address has an eighth of all at most, but one thing always', () => {
  const all = new BufferedBytes(800)
  assert.not(all.isOver('a', 5_000))
  const buffered = all.count('a', 90, () => {})
  assert.not(all.isOver('a', 10))
  assert.ok(all.isOver('a', 11))
  assert.not(all.isOver('b', 100))
  buffered.add(10)
  assert.ok(all.isOver('a', 1))
  buffered.end()
  buffered.end()
  assert.equal([all.total, all.isOver('a', 500)], [0, false])
})

test('where all is full, the oldest of whoever holds most is given up for whoever holds less', () => {
  const all = new BufferedBytes(800)
  const given: string[] = []
  for (const address of ['a', 'b', 'c', 'd']) {
    for (const n of [1, 2]) all.count(address, 100, () => given.push(address + n))
  }
  assert.ok(all.makeRoom('new', 50))
  assert.equal([given, all.total], [['a1'], 700])
  all.count('new', 50, () => given.push('new'))
  assert.ok(all.makeRoom('new', 60))
  assert.equal(given, ['a1', 'b1'])
  assert.not(all.makeRoom('new', 200), 'nobody holds more than it would hold then')
})

test('nobody gives way to an equal', () => {
  const all = new BufferedBytes(100)
  for (const address of ['a', 'b']) all.count(address, 50, () => assert.unreachable())
  assert.not(all.makeRoom('c', 50))
  assert.not(all.makeRoom('a', 1))
  assert.ok(new BufferedBytes(10).makeRoom('a', 5_000), 'one thing may always be buffered')
})

test.run()
