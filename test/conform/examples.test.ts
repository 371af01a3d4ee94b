// engines: embedded; process: own; lengths: long
/** Agents that people copy, and the one of the demo: none has anything against it. That in Go needs a compiler: `npm run test:mutants`. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { nothingDeclared } from '../../src/conform/agent/declared.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { reportOf } from '../../src/conform/judging/report.ts'
import { run } from '../../src/conform/run.ts'
import { scenarios } from '../../src/conform/scenarios/index.ts'
import { shellLine } from '../support/shell-line.ts'
import { missingFor } from './mutants/right-agents.ts'

/** What nobody has declared, or does. */
const UNTESTED = /^(cb\.files|hire\..+|life\.(message-length|sample-accepted|sample-rejected|rejects|reject-reason))$/

async function reportOn(command: string) {
  const history = await run({ url: null, secret: null, command, declared: nothingDeclared, seed: 1, scenarios })
  return reportOf(checks, history, { known: checks.map(({ id }) => id) })
}

test('the agents in Node, with Express, in Python and with the toolkit keep every must and every should', async () => {
  assert.is(missingFor({ program: 'python3' }), null)
  // Side by side, as a run waits most of its time.
  const inNode = ['examples/node-agent.mjs', 'examples/express-agent.mjs', 'fixtures/agents/sample.mjs']
  const commands = ['python3 examples/python-agent.py', ...inNode.map(path => shellLine(process.execPath, path))]
  for (const report of await Promise.all(commands.map(reportOn))) {
    const rest = report.checks.filter(({ id, verdict }) => verdict !== 'pass' && !UNTESTED.test(id))
    const told = rest.map(({ id, level, verdict, text }) => `${id} (${level}) is ${verdict}: ${text}`)
    assert.equal(told, [], report.agent.command ?? '')
  }
})

test.run()
