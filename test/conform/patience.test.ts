// engines: embedded; process: shared
/** How long the judge waits: a whole number of ms, as timers take no other, and never longer than the author allows. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Patience } from '../../src/conform/agent/declared.ts'

test('who is slow is waited for ten times as long as it took, and whoever is quick for some seconds', () => {
  const patience = new Patience({ answer: 300_000, work: 600_000 })
  assert.is(patience.limit('answer'), 300_000)
  patience.note('answer', 2)
  const least = patience.limit('answer')
  assert.ok(Number.isInteger(least) && least >= 5_000 && least <= 30_000, `${least}`)
  patience.note('answer', 7_777.77)
  assert.is(patience.limit('answer'), 77_778)
  patience.note('answer', 100)
  assert.is(patience.limit('answer'), 77_778, 'the slowest counts')
  patience.note('answer', 40_000)
  assert.is(patience.limit('answer'), 300_000)
  assert.is(patience.limit('work'), 600_000)
})

test.run()
