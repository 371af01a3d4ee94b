// engines: postgres; process: own; lengths: long
/** Three instances on one Postgres: what befalls them costs answers, and nothing that was answered. By itself: npm run test:drills. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../cli/program.ts'
import { assertInTime, drills } from './drills.ts'

/** How much longer instances may take beside other files. */
const SLOWER = 1.5

for (const [name, drill] of Object.entries(drills)) {
  test(
    `the drill “${name}”`,
    inFolder(async folder => {
      const report = await drill(folder)
      const { answers, webhooks } = report
      assertInTime(report, SLOWER)
      assert.ok(answers > 100, `${answers} answers`)
      assert.ok(webhooks > 10, `${webhooks} webhooks`)
    }),
  )
}

test.run()
