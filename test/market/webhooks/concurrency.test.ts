// engines: embedded; process: shared
/** Webhooks give way to a crowd of requests, and not for ever. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import type { Market } from '../../../src/market/market.ts'
import { slotLimit } from '../../../src/market/webhooks/in-flight.ts'

const { crowd, besideCrowd, overall, patienceMs, calmMs } = dispatch

function watch() {
  let now = 1_000_000
  let waiting = 0
  const market = {
    db: {
      get waiting() {
        return waiting
      },
    },
    world: { realNow: () => now },
  }
  const slots = slotLimit(market as unknown as Market)
  /** Places when `ms` have passed and so many wait. */
  return (ms: number, count: number) => {
    now += ms
    waiting = count
    return slots()
  }
}

test('as long as no more than a few wait, all slots are there', () => {
  const after = watch()
  for (let i = 0; i < 10; i++) assert.is(after(700, crowd), overall)
})

test('beside a crowd there are few slots, and all again when it has been gone for a while', () => {
  const after = watch()
  assert.is(after(0, crowd + 1), besideCrowd)
  assert.is(after(0, 0), besideCrowd, 'in the same millisecond')
  assert.is(after(100, crowd + 50), besideCrowd)
  assert.is(after(calmMs, 0), besideCrowd)
  assert.is(after(1, crowd), overall)
  assert.is(after(1, crowd + 1), besideCrowd, 'the next crowd')
})

test('a crowd that stays has no precedence any more, though it is gone now and then for a moment', () => {
  const after = watch()
  assert.is(after(0, crowd + 1), besideCrowd)
  for (let ms = 0; ms < patienceMs - 100; ms += 100) {
    assert.is(after(50, 0), besideCrowd)
    assert.is(after(50, crowd + 1), besideCrowd)
  }
  for (let i = 0; i < 50; i++) assert.is(after(100, crowd + 1), overall)
  assert.is(after(calmMs + 1, crowd + 1), besideCrowd, 'the next crowd')
})

test('a clock that was set back does not keep a crowd that is long gone', () => {
  const after = watch()
  assert.is(after(0, crowd + 1), besideCrowd)
  assert.is(after(-3_600_000, 0), overall)
  for (let i = 0; i < 10; i++) assert.is(after(500, 0), overall)
  assert.is(after(-3_600_000, crowd + 1), besideCrowd, 'the next crowd')
  assert.is(after(patienceMs, crowd + 1), besideCrowd)
  assert.is(after(10 * patienceMs, 0), overall)
})

test.run()
