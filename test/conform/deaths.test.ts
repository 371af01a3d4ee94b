// engines: embedded; process: own
/** An agent that ends by itself in the midst of a run: its end is told, and what could not be tried any more is no fault. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { nothingDeclared } from '../../src/conform/agent/declared.ts'
import { checks } from '../../src/conform/checks/index.ts'
import type { Check } from '../../src/conform/judging/check.ts'
import { outcomeOf, type Report, reportOf } from '../../src/conform/judging/report.ts'
import { deathInWords, lastWordsOf } from '../../src/conform/reports/run-tests.ts'
import { run, scenariosFor } from '../../src/conform/run.ts'

/** Answers, says something, and ends. */
const ends = (how: string) =>
  `exec node -e '${[
    `const end = () => { console.error("it was too much"); ${how} }`,
    'require("http").createServer((q, s) => { s.end(); setTimeout(end, 20) }).listen(process.env.PORT)',
  ].join('; ')}'`

/** Nothing comes of what an agent has forgotten, however long it is waited for. */
const declared = { ...nothingDeclared, patience: { answer: 5_000, work: 5_000, quiet: 500 } }
const asked = { url: null, secret: null, declared, seed: 1 }

async function reportOn(some: readonly Check[], command: string) {
  const history = await run({ ...asked, scenarios: scenariosFor(some), command })
  const report = reportOf(some, history, { known: [] })
  return { report, firstEnd: deathInWords(report.deaths[0]!, history) }
}

async function endsOfAll(command: string): Promise<Report> {
  // It answers everything with 200, so that it takes what is forged as well: what asks for that is left out.
  const some = checks.filter(({ id }) => /^(?:life|bytes|order)\./.test(id))
  const { report, firstEnd } = await reportOn(some, command)
  assert.match(firstEnd, / s into the run, after task\.submitted/)
  return report
}

const red = ({ checks }: Report) =>
  checks.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn').map(({ id, text }) => `${id} ${text}`)

const ways = [
  ['process.exit(7)', { how: 'with exit code 7', code: 7, signal: null }],
  ['process.kill(process.pid, "SIGKILL")', { how: 'by SIGKILL', code: null, signal: 'SIGKILL' }],
] as const
const playedFrom = (...names: string[]) => checks.filter(({ scenario }) => names.includes(scenario))
// What is forged comes by the dozen in the moment in which it ends.
const unusual = playedFrom('forged', 'framing', 'odd bytes', 'ends', 'last contact')
const closing = playedFrom('closed connections', 'ended in order')
const withBug = (bug: string, some: readonly Check[]) =>
  reportOn(some, `exec node test/conform/agents/mutant.mjs --bug ${bug}`)
// Side by side, as a run waits most of its time.
const played = Promise.all([
  Promise.all(ways.map(([how]) => endsOfAll(ends(how)))),
  withBug('ends-of-unknown-events', unusual),
  withBug('ends-of-closed-connections', closing),
])

test('its end is told with its last words, and decides about the run', async () => {
  const [reports] = await played
  for (const [at, report] of reports.entries()) {
    const [death, ...others] = report.deaths
    // It is started again some times, and ends each time.
    assert.ok(others.length > 0 && others.length <= 5, `${others.length}`)
    const { how, code, signal } = death!
    assert.equal({ how, code, signal }, ways[at]![1])
    assert.equal(lastWordsOf(death!), ['it was too much'])
    assert.ok(death!.behind.length > 3, `${death!.behind}`)
    assert.equal(red(report), [])
    assert.is(outcomeOf(report, { strict: false, complete: false }), 'bad')
  }
})

test('its end is laid to what it has ended of, though it had answered that, and the rest is judged', async () => {
  const [, { report, firstEnd }] = await played
  assert.is(report.deaths.length, 1)
  assert.match(firstEnd, /after task\.archived \(an event of a later version\) of http\.unknown-event/)
  assert.equal(red(report), ['http.unknown-event ended with exit code 1 of it'])
  assert.is(report.checks.find(({ id }) => id === 'rel.alive')!.verdict, 'pass')
})

test('a scenario that ends the agent waits until it is known of what it has ended', async () => {
  const [, , { report }] = await played
  assert.equal(red(report), ['rel.hang-up ended with exit code 1 of it'])
  assert.equal(
    report.causes.map(({ id }) => id),
    ['rel.hang-up'],
  )
})

test.run()
