// engines: embedded; process: own; lengths: short, long
/** The embedded database survives damage and failing disks. The same in greater numbers: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { amount } from '../support/length.ts'
import { failures, failuresOfOperations, flips } from './crash.ts'

test('damage: one changed byte is refused or harmless', async () => {
  const { refused, same } = await flips(amount({ short: 40, long: 150 }), 2)
  assert.ok(refused > 0 && same > 0)
})

test('a failing disk: nobody is told of what is not durable, and a start on the same machine goes on', async () => {
  assert.ok((await failures(3, amount({ short: 59, long: 17 }))) > amount({ short: 7, long: 20 }))
})

test('a call that fails while it starts, makes a snapshot or a backup: nothing is lost, and the next start goes on', async () => {
  const samples = amount({ short: 1, long: 4 })
  assert.is(await failuresOfOperations(6, samples), 12 * samples)
})

test.run()
