// engines: embedded; process: own; lengths: short, long
/** A server that is killed under load: nothing that was answered is lost. In still greater numbers: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../cli/program.ts'
import { amount } from '../support/length.ts'
import { killRounds } from './kill.ts'

test(
  'kill -9 under mixed load: tasks, money and outbox are as they were answered, and all webhooks arrive',
  inFolder(async folder => {
    const rounds = amount({ short: 1, long: 3 })
    const { answers, cuts, webhooks } = await killRounds(folder, rounds, 1)
    assert.ok(answers > 40 * rounds, `${answers} answers`)
    assert.ok(cuts > 0, 'requests were in flight')
    assert.ok(webhooks > 10, `${webhooks} webhooks`)
  }),
)

test.run()
