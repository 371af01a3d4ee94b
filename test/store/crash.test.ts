/** The embedded database survives crashes, damage and failing disks. The same in greater numbers: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { crashes, failures, flips } from './crash.ts'

test('crash: whatever was told is there afterwards, and only whole transactions', () => crashes(200, 1))

test('damage: one changed byte is refused or harmless', async () => {
  const { refused, same } = await flips(200, 2)
  assert.ok(refused > 0 && same > 0)
})

test('a failing disk: nobody is told of what is not durable, and a healthy disk goes on', async () => {
  assert.ok((await failures(3, 11)) > 20)
})

test.run()
