// engines: embedded; process: shared
/** The measure of the drills: a server that hangs is found as well as one that refuses, and one that nobody asks is well. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Asked, longestSilence, slowestOf } from './silences.ts'

const asked = (from: number, to: number, isAnswered = true, target = 'a'): Asked => ({ target, from, to, isAnswered })

test('a server that refuses is silent from the first refusal, or the answer before it, to the next answer', () => {
  const refusing = [asked(0, 10), asked(20, 21, false), asked(3_000, 3_001, false), asked(5_000, 5_020)]
  assert.is(longestSilence(refusing, 0), 5_000)
  assert.is(longestSilence(refusing.slice(0, 3), 0), 2_981)
})

test('one that hangs is silent as long as it answers nothing', () => {
  assert.is(longestSilence([asked(0, 10), asked(20, 5_020), asked(5_030, 5_040)], 0), 5_000)
  assert.is(longestSilence([asked(0, 10), asked(20, 5_020, false)], 0), 5_000)
  assert.is(longestSilence([asked(0, 5_020)], 1_000), 4_020)
  assert.is(slowestOf([asked(0, 5_020), asked(10, 20)], 1_000), 4_020)
})

test('one request that hangs while others are answered is no silence, and is the slowest', () => {
  const all = [asked(0, 5_000), ...Array.from({ length: 50 }, (_, i) => asked(100 * i, 100 * i + 10))]
  assert.ok(longestSilence(all, 0) < 200)
  assert.is(slowestOf(all, 0), 5_000)
})

test('one that nobody asks is well, and each is looked at by itself', () => {
  assert.is(longestSilence([asked(0, 10), asked(9_000, 9_010)], 0), 10)
  assert.is(longestSilence([], 0), 0)
  const other = Array.from({ length: 50 }, (_, i) => asked(100 * i, 100 * i + 10, true, 'b'))
  assert.is(longestSilence([asked(0, 4_000), ...other], 0), 4_000)
})

test.run()
