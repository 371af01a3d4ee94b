// engines: embedded; process: own
/** A server that is killed under load: nothing that was answered is lost. In greater numbers: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../cli/program.ts'
import { killRounds } from './kill.ts'

test(
  'kill -9 under mixed load, three times: tasks, money and outbox are as they were answered, and all webhooks arrive',
  inFolder(async folder => {
    const { answers, cuts, webhooks } = await killRounds(folder, 3, 1)
    assert.ok(answers > 120, `${answers} answers`)
    assert.ok(cuts > 0, 'requests were in flight')
    assert.ok(webhooks > 10, `${webhooks} webhooks`)
  }),
)

test.run()
