// engines: embedded; process: own
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { SHORT_LIVED, takenBy } from './short-lived.ts'

test('an option that this Node does not know is left out', () => {
  assert.equal(takenBy(process.execPath, ['--no-such-option=1', '--max-old-space-size=500']), [
    '--max-old-space-size=500',
  ])
})

test('the options are those that the process of the tests has, so that each was taken', () => {
  for (const option of SHORT_LIVED) assert.ok(process.execArgv.includes(option), option)
})

test.run()
