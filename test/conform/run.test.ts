// engines: embedded; process: own
/** A right agent and a wrong one, each before the judge, from the first webhook to the report. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { nothingDeclared } from '../../src/conform/declared.ts'
import { judge } from '../../src/conform/judge.ts'
import { outcomeOf, reportOf } from '../../src/conform/report.ts'
import { run } from '../../src/conform/run.ts'
import { scenarios } from '../../src/conform/scenarios/index.ts'
import { withPrerequisites } from '../../src/conform/selection.ts'

const asked = { url: null, secret: null, declared: nothingDeclared, seed: 1, scenarios }

test('an agent that does everything right has no check against it', async () => {
  const early: string[] = []
  const history = await run({
    ...asked,
    command: 'node examples/node-agent.mjs',
    // What is broken is told as soon as its scenario has ended: nothing may look broken then and whole later.
    listen(event, soFar) {
      if (event.kind !== 'scenario') return
      const ended = checks.filter(({ scenario }) => scenario === event.scenario)
      for (const { id, verdict } of judge(withPrerequisites(checks, ended), soFar))
        if (verdict === 'fail') early.push(id)
    },
  })
  assert.equal(early, [])
  const report = reportOf(checks, history, { known: checks.map(({ id }) => id) })
  assert.equal(
    report.checks.filter(({ verdict, level }) => level === 'must' && verdict !== 'pass'),
    [],
  )
  assert.is(outcomeOf(report, { strict: false, complete: false }), 'good')
})

test.run()
