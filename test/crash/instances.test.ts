/** Three servers on one Postgres behind a balancer, killed again and again. In greater numbers: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rates } from '../../src/api/limits.ts'
import { inFolder } from '../cli/program.ts'
import { capsUnderKills, rateUnderKill } from './fleet-limits.ts'
import { fleetRounds } from './fleet-rounds.ts'

test(
  'three instances, killed at random under mixed load: tasks, money and outbox are as they were answered, and all webhooks arrive',
  inFolder(async folder => {
    const { answers, cuts, webhooks } = await fleetRounds(folder, { rounds: 2, seed: 1 })
    assert.ok(answers > 300, `${answers} answers`)
    assert.ok(cuts > 0, 'requests were in flight')
    assert.ok(webhooks > 20, `${webhooks} webhooks`)
  }),
)

test(
  'caps and deposit limits are exact, run into from all instances while they are killed',
  inFolder(async folder => {
    const { hires, deposits } = await capsUnderKills(folder, 3)
    assert.ok(hires.done > 0 && deposits.done > 0)
  }),
)

test(
  'a rate limit is one limit for all instances, and does not begin anew with one of them',
  inFolder(async folder => {
    assert.is(await rateUnderKill(folder), rates.search.limit)
  }),
)

test.run()
