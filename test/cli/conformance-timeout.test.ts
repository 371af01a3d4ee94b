// engines: embedded; process: shared
/** `conformance --timeout`: a run that would go on for ever ends with its whole report, and never green. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { checks } from '../../src/conform/checks/index.ts'
import type { Report } from '../../src/conform/judging/report.ts'
import { TimeOver } from '../../src/conform/judging/time-limit.ts'
import { until } from '../support/patience.ts'
import { shellLine } from '../support/shell-line.ts'
import { isAlive } from './process-life.ts'
import { run } from './program.ts'

const right = shellLine('node', fileURLToPath(new URL('../../examples/node-agent.mjs', import.meta.url)))
const ONLY = ['--only', 'sig.valid', 'conn.endpoint-200']

const test = suite('conformance --timeout')
let folder: string

test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-conformance-timeout-'))
  // It holds every webhook for ever.
  const silent =
    "require('fs').writeFileSync('pid', String(process.pid)); require('http').createServer(() => {}).listen(process.env.PORT)"
  writeFileSync(join(folder, 'silent.cjs'), silent)
})
test.after(() => rmSync(folder, { recursive: true, force: true }))

const judged = (...args: string[]) => run(['conformance', ...args], folder)

test('with an agent that answers nothing the report is whole, in every form, and the exit code tells that nothing could be told', async () => {
  const files = [
    'ctrf=r.json',
    'junit=r.xml',
    'tap=r.tap',
    'sarif=r.sarif',
    'html=r.html',
    'badge=r.svg',
    'github=r.md',
  ]
  const { code, out, err } = await judged(
    ...['--start', 'exec node silent.cjs', '--timeout', '3s', '--json', '--report', ...files],
    ...['--requirements', '2026-11', '--repeat', '3'],
  )
  assert.is(code, exitCodes.failed, err)
  const report: Report = JSON.parse(out)
  const { summary } = report
  assert.equal([report.limitMs, report.checks.length, summary.total], [3_000, checks.length, checks.length])
  assert.equal([summary.inconclusive, summary.untested], [checks.length, 0])
  const reason = new TimeOver(3_000).message
  assert.ok(report.checks.every(({ text }) => text === reason))
  assert.match(err, /· 2 s into the run, 0 of \d+ scenarios are played\. The run ends after 3 s at the latest/)
  for (const file of files)
    assert.match(readFileSync(join(folder, file.split('=')[1]!), 'utf8'), /time over|The run was ended after 3s/)
  if (existsSync(join(folder, 'pid')))
    await until('the agent has ended', () => !isAlive(Number(readFileSync(join(folder, 'pid'), 'utf8'))))
})

test('a person reads it first, with the flag that helps', async () => {
  const { code, out } = await judged('--start', 'exec node silent.cjs', '--timeout', '2s')
  assert.is(code, exitCodes.failed)
  assert.match(
    out,
    /^✖ The run was ended after 2s, as its time was over: 170 checks are inconclusive\. --timeout 4s gives/,
  )
  assert.match(out, /\n\? 170 checks \(conn \d+/)
})

test('a run that is done in time says nothing of it', async () => {
  const { code, out, err } = await judged('--start', right, '--timeout', '10m', ...ONLY)
  assert.is(code, exitCodes.ok, err)
  assert.not.match(out + err, /time of the run|--timeout/)
  assert.not.match(out, /into the run/)
})

test('a history whose time was over is judged as the run was: red if a must is broken, and never green', async () => {
  const kept = join(folder, 'run.jsonl')
  assert.is((await judged('--start', right, ...ONLY, '--save-history', kept)).code, exitCodes.ok)
  const whole = readFileSync(kept, 'utf8')
  const cut = whole.replace('"interrupted":false', '"interrupted":true,"limitMs":60000')
  assert.is.not(cut, whole)
  writeFileSync(kept, cut)
  const green = await judged('--history', kept, ...ONLY)
  assert.is(green.code, exitCodes.failed)
  assert.match(green.out, 'The run was ended after 1m, as its time was over: 0 checks are inconclusive')
  assert.is((await judged('--history', kept, ...ONLY, '--write-baseline')).code, exitCodes.failed)
  writeFileSync(kept, cut.replaceAll(/("genuine":true.*?"answer":\{"status":)200/g, '$1401'))
  assert.is((await judged('--history', kept, ...ONLY)).code, exitCodes.check)
})

for (const [given, said] of [
  ['600', /A duration is written like 90s, 15m/],
  ['0s', /--timeout is the time that the whole run may take: 1s to 7d, such as 10m\./],
] as const) {
  test(`a time that is none is exit 2 and a sentence: ${given}`, async () => {
    const { code, err } = await judged('--start', 'false', '--timeout', given)
    assert.is(code, exitCodes.usage)
    assert.match(err, said)
  })
}

test('the file of the agent may say it, and the flag goes before', async () => {
  const path = join(folder, 'conformance.yaml')
  writeFileSync(path, 'timeout: "10ms"\n')
  try {
    const { code, err } = await judged('--start', 'false')
    assert.is(code, exitCodes.usage)
    assert.match(err, 'timeout in the file of the agent is the time that the whole run may take')
    assert.is((await judged('--start', right, '--timeout', '10m', ...ONLY)).code, exitCodes.ok)
  } finally {
    rmSync(path)
  }
})

test.run()
