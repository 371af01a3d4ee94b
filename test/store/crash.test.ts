// engines: embedded; process: own
/** The embedded database survives crashes: 500 interruptions of what it does. 5,000 of them: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copiedHere, crashes, interruptions } from './crash.ts'

test('crash: whatever was told or shown is there afterwards, and only whole transactions', () => crashes(330, 1))

test('interrupted at every step of start, snapshot, db snapshot and backup, and again while starting: never refused', async () => {
  assert.ok((await interruptions(170, 4)) >= 170)
})

test('a file that was copied here a moment ago is durable before anything of it is shown', () => copiedHere(15, 5))

test.run()
