// engines: postgres; process: own; lengths: long
/** What all instances count together stays exact while they are killed. In greater numbers: npm run test:crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rates } from '../../src/api/limits.ts'
import { inFolder } from '../cli/program.ts'
import { until } from '../support/patience.ts'
import { capsUnderKills, rateUnderKill } from './fleet-limits.ts'

test(
  'caps and deposit limits are exact, run into from all instances while they are killed',
  inFolder(async folder => {
    const { hires, deposits } = await capsUnderKills(folder, 2)
    assert.ok(hires.done > 0 && deposits.done > 0)
  }),
)

test(
  'a rate limit is one limit for all instances, and does not begin anew with one of them',
  inFolder(async folder => {
    // Where a start takes most of a minute, the next window lets others through; a limit of each instance always does.
    let passed = 0
    const asMany = async () => {
      passed = await rateUnderKill(folder)
      return passed === rates.search.limit
    }
    await until(() => `${rates.search.limit}, but ${passed}`, asMany)
  }),
)

test.run()
