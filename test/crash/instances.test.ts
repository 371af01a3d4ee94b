// engines: postgres; process: own; lengths: long
/** Three servers on one Postgres behind a balancer, killed again and again. In greater numbers: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../cli/program.ts'
import { fleetRounds } from './fleet-rounds.ts'

test(
  'three instances, killed at random under mixed load: tasks, money and outbox are as they were answered, and all webhooks arrive',
  inFolder(async folder => {
    const { answers, cuts, webhooks } = await fleetRounds(folder, { rounds: 1, seed: 1 })
    assert.ok(answers > 150, `${answers} answers`)
    assert.ok(cuts > 0, 'requests were in flight')
    assert.ok(webhooks > 10, `${webhooks} webhooks`)
  }),
)

test.run()
