// engines: embedded; process: own; lengths: short, long
/** A right agent and a wrong one, each before the judge, from the first webhook to the report. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { nothingDeclared } from '../../src/conform/agent/declared.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { outcomeOf, reportOf } from '../../src/conform/judging/report.ts'
import { run, scenariosFor } from '../../src/conform/run.ts'
import { scenarios } from '../../src/conform/scenarios/index.ts'
import { isWriting, sameAsKept } from '../support/golden.ts'
import { isLong } from '../support/length.ts'
import { inTime, PATIENCE_MS } from '../support/patience.ts'
import { usuallyDeclared } from './mutants/trial.ts'
import { scriptOf } from './script.ts'

const asked = { url: null, secret: null, declared: nothingDeclared, seed: 1, scenarios }

/** What an agent does on a machine that has much to do is judged at length. */
const tried = isLong ? checks : checks.filter(({ id }) => /^(?:sig|dup)\./.test(id))

const dup = checks.filter(({ id }) => id.startsWith('dup.'))
const early: string[] = []
/** Of a run with all there is. `npm run goldens` writes it anew. */
const SCRIPT = 'test/conform/script.txt'
const folder = mkdtempSync(join(tmpdir(), 'judge-'))
test.after(() => rmSync(folder, { recursive: true }))
// Side by side, as a run waits most of its time.
const played = Promise.all([
  run({
    ...asked,
    declared: { ...usuallyDeclared, hires: true },
    command: `MUTANT_STATE=${join(folder, 'state')} exec node test/conform/agents/mutant.mjs --style buys`,
    // Nothing may look broken when all has been sent, and whole at the end.
    listen(event, soFar) {
      if (event.kind !== 'quiet') return
      for (const { id, verdict } of judge(tried, soFar)) if (verdict === 'fail') early.push(id)
    },
  }),
  run({
    ...{ ...asked, scenarios: scenariosFor(dup) },
    command: 'exec node test/conform/agents/mutant.mjs --style answers-when-done',
  }),
])

test('an agent that does everything right has no check against it', async () => {
  const [history] = await played
  assert.equal(early, [])
  const report = reportOf(tried, history, { known: checks.map(({ id }) => id) })
  assert.equal(
    report.checks.filter(({ verdict, level }) => level === 'must' && verdict !== 'pass' && verdict !== 'untested'),
    [],
  )
  assert.is(outcomeOf(report, { strict: false, complete: false }), 'good')
})

test('what is done to an agent is what was done to it before, to the letter', async () => {
  const [history] = await played
  const now = scriptOf(history, ['life.cancel-race'])
  // The work that a slow one is spared is not in it.
  const isSlow = history.of('task').some(({ isSpared }) => isSpared)
  if (isWriting) assert.not.ok(isSlow, 'This machine has too much to do: what a slow agent is spared would be left out')
  const compared = (script: string) => (isSlow ? script.replace(/^ {2}(?!a task).*\n/gm, '') : script)
  sameAsKept(SCRIPT, now, compared)
})

if (existsSync('/proc/self/statm'))
  test('how much memory it keeps is looked at before the work and after it', async () => {
    const [history] = await played
    const sizes = history.observations('rel.memory').map(({ value }) => value as number)
    assert.is(sizes.length, 2)
    assert.ok(
      sizes.every(bytes => bytes > 1_000_000),
      `${sizes}`,
    )
  })

test('an agent that answers a webhook only when it has done the work is judged as any other', async () => {
  const [, history] = await played
  assert.equal(
    judge(dup, history).filter(({ verdict }) => verdict !== 'pass'),
    [],
  )
})

test('an agent that ends in the midst is broken, and is not waited for', async () => {
  const ends =
    'require("http").createServer((q, s) => { s.end(); setTimeout(() => process.exit(7), 200) }).listen(process.env.PORT)'
  const sig = checks.filter(({ id }) => id.startsWith('sig.') || id.startsWith('life.'))
  // More patience than the test has: not a single one is used up.
  const declared = { ...nothingDeclared, patience: { answer: 10 * PATIENCE_MS, work: 10 * PATIENCE_MS, quiet: 1_000 } }
  const command = `exec node -e '${ends}'`
  const history = await inTime('its end', run({ ...asked, declared, scenarios: scenariosFor(sig), command }))
  assert.ok(history.of('process').some(({ what, text }) => what === 'ended' && text === 'with exit code 7'))
  assert.is(outcomeOf(reportOf(sig, history, { known: [] }), { strict: false, complete: false }), 'bad')
})

test.run()
