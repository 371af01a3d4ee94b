// engines: embedded; process: shared
/** `marketplace conformance`: what a baseline excuses and for how long, and that a set of requirements is whole. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { run } from './program.ts'

const test = suite('conformance baseline')
let folder: string
/** What came of an agent that believes everybody. */
let kept: string

const ONLY = ['--only', 'sig.valid', 'sig.missing-signature', 'conn.endpoint-200']

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-baseline-'))
  const agent = readFileSync(new URL('../../examples/node-agent.mjs', import.meta.url), 'utf8')
  writeFileSync(join(folder, 'wrong.mjs'), agent.replace('return response.writeHead(401).end()', 'void 0'))
  kept = join(folder, 'run.jsonl')
  const { code, out, err } = await run(
    ['conformance', '--start', 'node wrong.mjs', '--seed', '7', ...ONLY, '--save-history', kept],
    folder,
  )
  assert.is(code, exitCodes.check, out + err)
})

test.after(() => rmSync(folder, { recursive: true, force: true }))

const judged = (...args: string[]) => run(['conformance', '--history', kept, ...args], folder)

test('a baseline excuses, with a reason, for as long as it is true', async () => {
  const baseline = join(folder, 'b.yaml')
  assert.is((await judged(...ONLY, '--baseline', baseline)).code, exitCodes.usage, 'it is not there')
  const written = await judged(...ONLY, '--baseline', baseline, '--write-baseline')
  assert.is(written.code, exitCodes.ok)
  assert.match(
    written.err,
    'excuses one check: say in its line why. This run ends with exit code 0, whatever is broken',
  )
  assert.match(readFileSync(baseline, 'utf8'), 'sig.missing-signature:\n  verdict: fail\n  why: say why\n')
  const excused = await judged(...ONLY, '--baseline', baseline)
  assert.is(excused.code, exitCodes.ok, excused.err)
  assert.match(excused.out, 'excused: say why')
  for (const [text, said] of [
    [
      'sig.valid: { verdict: fail, why: old }',
      'baseline: sig.valid: it says fail, and now it is pass: take the line out',
    ],
    [
      'sig.missing-signature: { verdict: fail, why: old, until: "2020-01-01" }',
      'baseline: sig.missing-signature: it counted until 2020-01-01: mend the agent',
    ],
    ['sig.mising: { verdict: fail, why: old }', 'baseline: sig.mising: there is no such check: take the line out'],
  ] as const) {
    writeFileSync(baseline, text)
    const { code, out } = await judged('--only', 'sig.valid', '--baseline', baseline)
    assert.is(code, exitCodes.check, text)
    assert.match(out, said)
  }
  // What this run does not play keeps its line.
  writeFileSync(baseline, 'dup.retry: { verdict: fail, why: old }')
  await judged(...ONLY, '--baseline', baseline, '--write-baseline')
  assert.match(
    readFileSync(baseline, 'utf8'),
    /^dup\.retry:\n {2}verdict: fail\n {2}why: old\nsig\.missing-signature:/m,
  )
  writeFileSync(baseline, '')
  const { err } = await judged('--only', 'sig.valid', '--baseline', baseline, '--write-baseline')
  assert.match(err, 'excuses nothing, as nothing is broken')
})

test('a set of requirements is whole: flags that narrow it are refused, and where its file names it, that is said', async () => {
  for (const narrowed of [
    ['--only', 'sig.valid'],
    ['--skip', 'dup'],
  ]) {
    const { code, err } = await judged('--requirements', '2026-12', ...narrowed)
    assert.is(code, exitCodes.usage)
    assert.match(err, '--requirements asks for every check of its set, so it takes no --only or --skip')
  }
  const config = join(folder, 'named.yaml')
  writeFileSync(config, 'requirements: 2026-12')
  const { code, err } = await judged('--config', config, '--only', 'sig.valid')
  assert.is(code, exitCodes.ok, err)
  assert.match(err, 'whether the set of requirements is kept takes a run of all')
  assert.not.match((await judged('--only', 'sig.valid')).err, 'requirements')
})

test('under an older set a check that has become milder decides as it did', async () => {
  const agent = readFileSync(new URL('../../examples/node-agent.mjs', import.meta.url), 'utf8')
  const talks = agent.replace(/( await answer\(data, \{ action: )'accept' \}/, "$1'message', content: 'I begin.' }")
  writeFileSync(join(folder, 'talks.mjs'), talks)
  const under = async (set: string, ...given: readonly string[]) => {
    const config = join(folder, `${set}.yaml`)
    writeFileSync(config, `{ requirements: ${set}, patience: { answer: 2s, work: 2s } }`)
    const { code, out, err } = await run(
      ['conformance', ...given, '--only', 'life.accepts', '--config', config],
      folder,
    )
    assert.match(out, 'called back with message in place of accept', err)
    return code
  }
  const path = join(folder, 'talks.jsonl')
  assert.is(await under('2026-11', '--start', 'node talks.mjs', '--save-history', path), exitCodes.check)
  assert.is(await under('2026-12', '--history', path), exitCodes.ok)
})

test.run()
