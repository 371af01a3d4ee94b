// engines: embedded; process: own
/** A run whose time is over: it ends at once, tells what was seen, and is never green. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RunTime } from '../../src/cli/conformance/time-limit.ts'
import { AgentUnderTest } from '../../src/conform/agent/agent-under-test.ts'
import { nothingDeclared } from '../../src/conform/agent/declared.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { historyLines, historyOf } from '../../src/conform/history/history-file.ts'
import { Recorder } from '../../src/conform/history/recorder.ts'
import { outcomeOf, type Report, reportOf } from '../../src/conform/judging/report.ts'
import { TimeOver } from '../../src/conform/judging/time-limit.ts'
import { run, scenariosFor } from '../../src/conform/run.ts'
import { isAlive } from '../cli/process-life.ts'
import { inTime, PATIENCE_MS, until } from '../support/patience.ts'
import { shellLine } from '../support/shell-line.ts'

const test = suite('time limit')
let folder: string

test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-time-limit-'))
})
test.after(() => rmSync(folder, { recursive: true, force: true }))

/** Says who it is at the first webhook, and answers none. */
function silentAgent(begun: string): string {
  const path = join(folder, 'silent.cjs')
  const tell = `require('fs').writeFileSync(${JSON.stringify(begun)}, String(process.pid))`
  writeFileSync(path, `require('http').createServer(() => ${tell}).listen(process.env.PORT)`)
  return shellLine('exec', 'node', path)
}

const REASON = 'the time of the run was over: it had 3m, --timeout 6m gives it more'

function countsIn({ summary }: Report): number {
  const { pass, fail, warn, behind, untested, inconclusive } = summary
  return pass! + fail! + warn! + behind! + untested! + inconclusive!
}

test('it ends in the midst of a wait, its agent is gone, and what was not told says why', async () => {
  const begun = join(folder, 'begun')
  const over = new AbortController()
  // More patience than the test has: whatever is waited for is cut off.
  const patience = { answer: 10 * PATIENCE_MS, work: 10 * PATIENCE_MS, quiet: 10 * PATIENCE_MS }
  const running = run({
    ...{ url: null, secret: null, seed: 1, command: silentAgent(begun), signal: over.signal },
    ...{ declared: { ...nothingDeclared, patience }, scenarios: scenariosFor(checks) },
  })
  await until('a webhook has come', () => existsSync(begun) && readFileSync(begun, 'utf8') !== '')
  over.abort(new TimeOver(180_000))
  const history = await inTime('the end of the run', running)
  await until('the agent has ended', () => !isAlive(Number(readFileSync(begun, 'utf8'))))
  assert.equal(history.of('scenario'), [], 'what was cut off has not ended')
  const report = reportOf(checks, historyOf(historyLines(history)), { known: [] })
  assert.equal([report.limitMs, report.interrupted], [180_000, true])
  assert.is(countsIn(report), checks.length)
  assert.is(report.summary.inconclusive, checks.length)
  assert.equal([...new Set(report.checks.map(({ text }) => text))], [REASON])
  assert.is(outcomeOf(report, { strict: false, complete: true }), 'unsure')
})

test('an agent that does not come up in time ends with the run', async () => {
  const begun = join(folder, 'never-listens')
  const over = new AbortController()
  const command = `exec node -e 'require("fs").writeFileSync(${JSON.stringify(begun)}, String(process.pid)); setInterval(() => {}, 1000)'`
  const running = run({
    ...{ url: null, secret: null, seed: 1, command, signal: over.signal },
    ...{ declared: nothingDeclared, scenarios: scenariosFor(checks) },
  })
  await until('it was started', () => existsSync(begun) && readFileSync(begun, 'utf8') !== '')
  over.abort(new TimeOver(180_000))
  const history = await inTime('the end of the run', running)
  await until('the agent has ended', () => !isAlive(Number(readFileSync(begun, 'utf8'))))
  assert.is(history.of('end')[0]!.limitMs, 180_000)
})

test('a scenario that starts it anew when the run is over starts nothing', async () => {
  const about = { url: 'http://127.0.0.1:1/', secret: 's', id: 'agt', keyBytes: Buffer.alloc(24), chance: () => 0 }
  const recorder = new Recorder()
  const agent = new AgentUnderTest({ ...about, command: 'exec node -e 1', recorder })
  await agent.close()
  const message = await agent.restart().then(
    () => 'it is up',
    (error: Error) => error.message,
  )
  assert.is(message, 'the run is over')
  assert.not(recorder.history.of('process').some(({ what }) => what === 'started'))
})

/** Ticks a clock second by second. Returns when a word came, and whether its time is over. */
function heardFrom(limitMs: number, seconds: number) {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const time = new RunTime(limitMs)
    const words: number[] = []
    for (let second = 0; second < seconds; second++) {
      mock.timers.tick(1_000)
      // The first word is kept for who begins to listen later.
      if (second === 90) time.tellTo(({ ms }) => words.push(ms / 1_000))
    }
    time.tellTo(({ ms }) => words.push(ms / 1_000))
    const isOver = time.signal.aborted
    time.close()
    mock.timers.tick(limitMs)
    return { words, isOver, isClosed: time.signal.aborted === isOver }
  } finally {
    mock.timers.reset()
  }
}

test('a run says every three seconds that it goes on, and at its limit it is over', () => {
  assert.equal(heardFrom(2_700_000, 2), { words: [], isOver: false, isClosed: true })
  const { words, isOver } = heardFrom(2_700_000, 2_699)
  assert.equal(
    words,
    Array.from({ length: words.length }, (_, at) => 90 + 3 * at),
  )
  assert.is(words.at(-1), 2_697)
  assert.not(isOver)
  assert.equal(heardFrom(6_000, 6), { words: [3], isOver: true, isClosed: true })
})

test.run()
