// engines: embedded; process: own; lengths: long
/** Hostile neighbours within the strict limits, for some seconds. Ten minutes of it: npm run test:neighbour. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../cli/program.ts'
import { neighbours } from './neighbour.ts'

test(
  'ten hostile builders at once: everybody else is answered, their webhooks arrive, and the server starts again',
  inFolder(async folder => {
    const report = await neighbours(folder, { seconds: 15, people: 10 })
    assert.equal(report.faults, [], 'requests of others that failed')
    assert.is(report.missing, 0, 'webhooks of others that never came')
    assert.is(report.code, 0)
    assert.ok(report.startsAgain)
    assert.equal(report.errors, [])
    assert.ok(report.unansweredNames > 0, 'names were asked for that nobody answers')
    const attacks = new Set(Object.keys(report.attacks).map(what => what.split(' ', 1)[0]))
    assert.ok(attacks.size >= 9, `attacks: ${[...attacks]}`)
    assert.ok(report.peakMb <= 400, `${report.peakMb} MB`)
    // They write some 10 MB in a minute and a half; the limit is a hundred times as much.
    assert.ok(report.databaseMb < 50, `a database of ${report.databaseMb} MB`)
  }),
)

test.run()
