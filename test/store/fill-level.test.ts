// engines: embedded; process: own
/** How full the database is: said at each step on the way up, once, and again only after it had sunk. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FillLevel, FULL_BYTES } from '../../src/store/embedded/fill-level.ts'
import { FillWarning } from '../../src/store/fill-warning.ts'

const MB = 1024 ** 2

test('it warns at 70 %, at each tenth above, and that it is full; once each', () => {
  const said: string[] = []
  const warning = new FillWarning(message => said.push(message), 'A way out.')
  const steps = (...percents: number[]) => {
    for (const percent of percents) warning.look({ bytes: percent * MB, limit: 100 * MB })
    return said.splice(0).map(message => /full: it has|\((\d+) %\)/.exec(message)![1] ?? 'full')
  }
  assert.equal(steps(0, 50, 69.9), [])
  assert.equal(steps(70, 70, 71, 79.9), ['70'])
  assert.equal(steps(85, 84, 86), ['85'])
  assert.equal(steps(90, 99), ['90'])
  assert.equal(steps(100, 130, 100), ['full'])
  assert.equal(steps(90, 95, 100), [], 'a little less and more again is no news')
  assert.equal(steps(89, 92), ['89', '92'], 'it had sunk by more than a step')
})

test('what is said names the level, the limit and the way out', () => {
  const said: string[] = []
  const look = (bytes: number, limit: number) =>
    new FillWarning(message => said.push(message), 'A way out.').look({ bytes, limit })
  look(7.55 * MB, 10 * MB)
  look(750 * MB, 1000 * MB)
  look(9 * MB, 9 * MB)
  look(11 * MB, 10 * MB)
  assert.match(
    said[0]!,
    /^The database has 7\.5 MB of the 10 MB that it may have \(75 %\)\. .* A way out\. npx agent-marketplace admin usage shows/,
  )
  assert.match(said[1]!, 'The database has 750 MB of the 1000 MB that it may have (75 %).')
  assert.match(said[2]!, /^The database is full: it has the 9\.0 MB that it may have\. .* A way out\./)
  assert.match(said[3]!, 'it has the 10 MB')
  look(9.99 * MB, 10 * MB)
  assert.match(said[4]!, 'The database has 10.0 MB of the 10 MB')
  assert.is(FULL_BYTES, 1024 ** 3)
})

test('whether it is full is known at once where there is little room, else within 16 writes', () => {
  let bytes = 0
  let checks = 0
  const level = new FillLevel(
    () => {
      checks++
      return { bytes, limit: 1000 * MB }
    },
    () => {},
  )
  assert.not(level.isFull)
  bytes = 1000 * MB
  const before = checks
  assert.not(level.isFull)
  for (let write = 1; write < 16; write++) {
    level.countWrite()
    assert.not(level.isFull)
  }
  assert.is(checks, before)
  level.countWrite()
  assert.ok(level.isFull)
  bytes = 1000 * MB + 1
  assert.ok(level.isFull)
  bytes = 1000 * MB - 1
  assert.not(level.isFull, 'at once')
  bytes = 1000 * MB
  assert.ok(level.isFull, 'at once')
})

test.run()
