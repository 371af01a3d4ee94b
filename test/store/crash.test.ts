// engines: embedded; process: own; lengths: short, long
/** The embedded database survives crashes: a hundred interruptions of what it does, or in length 500. 5,000 of them: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { amount } from '../support/length.ts'
import { copiedHere, crashes, interruptions } from './crash.ts'

test('crash: whatever was told or shown is there afterwards, and only whole transactions', () =>
  crashes(amount({ short: 60, long: 330 }), 1))

test('interrupted at every step of start, snapshot, db snapshot and backup, and again while starting: never refused', async () => {
  const images = amount({ short: 40, long: 170 })
  assert.ok((await interruptions(images, 4)) >= images)
})

test('a file that was copied here a moment ago is durable before anything of it is shown', () =>
  copiedHere(amount({ short: 5, long: 15 }), 5))

test.run()
