// engines: embedded; process: shared
/** How long the judge waits: a whole number of ms, as timers take no other, and never longer than the author allows. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Patience } from '../../src/conform/agent/declared.ts'

test('who is slow is waited for ten times as long as it took, and whoever is quick for some seconds', () => {
  const patience = new Patience({ answer: 300_000, work: 600_000 })
  assert.is(patience.limit('answer'), 300_000)
  patience.note('answer', 2, true)
  const least = patience.limit('answer')
  assert.ok(Number.isInteger(least) && least >= 5_000 && least <= 30_000, `${least}`)
  patience.note('answer', 7_777.77, true)
  assert.is(patience.limit('answer'), 77_778)
  patience.note('answer', 100, true)
  assert.is(patience.limit('answer'), 77_778, 'the slowest counts')
  patience.note('answer', 40_000, false)
  assert.is(patience.limit('answer'), 300_000)
  assert.is(patience.limit('work'), 600_000)
})

test('who does one task after the other is waited for as long as it goes on, and never longer than the author allows', () => {
  const patience = new Patience({ answer: 300_000, work: 600_000 })
  patience.note('work', 1_000, true)
  const usual = patience.limit('work')
  assert.is(patience.limitInLine('work', 20_000), usual, 'nothing was delivered yet')
  patience.hasWorked()
  const inLine = patience.limitInLine('work', 20_000)
  assert.ok(inLine > usual + 19_000 && inLine <= usual + 20_000, `${inLine}`)
  assert.is(patience.limitInLine('answer', 20_000), patience.limit('answer'))
  assert.is(patience.limitInLine('work', 900_000), 600_000)
})

test('what must not come is listened for by the slowest reaction that waited for no other', () => {
  const patience = new Patience({ answer: 300_000, work: 600_000 })
  assert.is(patience.quietMs(1_000), 1_000)
  patience.note('work', 1_000, true)
  patience.note('work', 60_000, false)
  assert.is(patience.quietMs(1_000), 5_000)
  patience.note('answer', 4_000, true)
  assert.is(patience.quietMs(1_000), 14_000)
})

test.run()
