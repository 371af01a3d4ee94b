// engines: embedded; process: shared
/** Verdicts, excuses and the outcome of a run, on histories made by hand. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Happening } from '../../src/conform/history/history.ts'
import { historyLines, historyOf } from '../../src/conform/history/history-file.ts'
import { type Baseline, baselineOf } from '../../src/conform/judging/baseline.ts'
import {
  behind,
  broken,
  type Check,
  type Finding,
  holds,
  inconclusive,
  type Level,
  leftOut,
  untested,
} from '../../src/conform/judging/check.ts'
import { type Outcome, outcomeOf, reportOf, withRepeats } from '../../src/conform/judging/report.ts'
import { selected, unknownIn, withPrerequisites } from '../../src/conform/judging/selection.ts'
import { begin, historyOf as madeUp, played as scenarioPlayed } from './made-up.ts'

const scenario = (outcome: 'done' | 'skipped' | 'failed', why = '') => scenarioPlayed('play', { outcome, why })
const end: Happening = { kind: 'end', interrupted: false, ms: 12 }

const historyWith = (...happenings: Happening[]) => madeUp([begin, ...happenings], 0)
const played = historyWith(scenario('done'), end)

const check = (
  id: string,
  finding: Finding,
  { level = 'must', after = [] }: { level?: Level; after?: string[] } = {},
): Check => ({
  ...{ id, level, after, title: 'is right', law: { source: 'I-json', quote: 'JSON' }, why: 'Why.', fix: 'Fix.' },
  scenario: 'play',
  judge: () => finding,
})
const wrong = broken('was wrong', { seq: 1 })

function reported(
  checks: readonly Check[],
  { history = played, baseline = {} as Baseline, requirements = null as string[] | null } = {},
) {
  const known = checks.map(({ id }) => id)
  const set = requirements && { name: 'set', ids: requirements }
  return reportOf(checks, history, { baseline, known, requirements: set })
}

const verdictOf = (one: Check, history = played) => reported([one], { history }).checks[0]!

test('a finding becomes a verdict by the level of its check', () => {
  assert.is(verdictOf(check('a.b', holds)).verdict, 'pass')
  assert.is(verdictOf(check('a.b', wrong)).verdict, 'fail')
  assert.is(verdictOf(check('a.b', wrong, { level: 'should' })).verdict, 'warn')
  assert.is(verdictOf(check('a.b', wrong, { level: 'may' })).verdict, 'pass')
  assert.is(verdictOf(check('a.b', untested('no sample'))).verdict, 'untested')
  assert.is(verdictOf(check('a.b', inconclusive('no power'))).verdict, 'inconclusive')
})

test('a check that throws says nothing of the agent', () => {
  const faulty = { ...check('a.b', holds), judge: () => assert.unreachable('a fault of ours') as never }
  assert.is(verdictOf(faulty).verdict, 'inconclusive')
})

test('what was not played to its end passes nothing, and what was seen to be wrong counts all the same', () => {
  const skipped = historyWith(scenario('skipped', 'it hires nobody'), end)
  assert.is(verdictOf(check('a.b', holds), skipped).text, 'it hires nobody')
  assert.is(verdictOf(check('a.b', holds), skipped).verdict, 'untested')
  assert.is(verdictOf(check('a.b', wrong), skipped).verdict, 'fail', 'other scenarios have shown it')
  for (const history of [historyWith(scenario('failed', 'no port'), end), historyWith(end)]) {
    assert.is(verdictOf(check('a.b', holds), history).verdict, 'inconclusive')
    assert.is(verdictOf(check('a.b', wrong), history).verdict, 'fail')
  }
})

test('a fault that met nothing proves nothing', () => {
  const unused = (label: string) => historyWith(scenario('done'), { kind: 'unused', label, fault: 'copy' }, end)
  for (const label of ['a.b', 'a.b/first']) {
    assert.is(verdictOf(check('a.b', holds), unused(label)).verdict, 'inconclusive')
    assert.is(verdictOf(check('a.b', wrong), unused(label)).verdict, 'fail')
  }
  assert.is(verdictOf(check('a.b', holds), unused('a.bc')).verdict, 'pass')
})

test('one bug is one red line: what depends on a broken check is blocked', () => {
  const checks = [check('a.c', holds, { after: ['a.b'] }), check('a.b', wrong), check('a.d', wrong, { after: ['a.c'] })]
  const { checks: judged, causes, summary } = reported(checks)
  assert.equal(
    judged.map(({ id, verdict, text }) => [id, verdict, text]),
    [
      ['a.c', 'behind', 'after a.b failed'],
      ['a.b', 'fail', 'was wrong'],
      ['a.d', 'behind', 'after a.b failed'],
    ],
  )
  assert.is(summary.fail, 1)
  assert.is(summary.behind, 2)
  assert.equal(causes, [{ id: 'a.b', behind: ['a.c', 'a.d'] }])
  assert.equal(
    judged.map(({ behind }) => behind),
    ['a.b', null, 'a.b'],
  )
  assert.is(summary.levels.must.fail, 1)
})

test('of several that it waits for the first that is broken is named', () => {
  const before = [check('a.b', holds), check('a.c', wrong), check('a.d', wrong)]
  const { checks: judged } = reported([...before, check('a.e', holds, { after: ['a.b', 'a.c', 'a.d'] })])
  assert.is(judged[3]!.behind, 'a.c')
})

test('causes stand in the order in which to mend them: an end, then what most wait for; what decides nothing is none', () => {
  const after = (id: string) => ({ after: [id] })
  const checks = [
    check('a.b', wrong),
    check('a.c', wrong),
    check('a.d', holds, after('a.c')),
    check('a.e', wrong, { level: 'should' }),
    check('a.f', holds, after('a.e')),
    check('a.g', wrong),
    check('a.h', wrong, after('a.g')),
  ]
  const { causes, summary } = reported(checks, { baseline: { 'a.g': { verdict: 'fail', why: 'old' } } })
  assert.equal(causes, [
    { id: 'a.c', behind: ['a.d'] },
    { id: 'a.b', behind: [] },
  ])
  assert.is(summary.behind, 3)
  const { causes: withEnd } = reported([...checks, check('a.i', behind('agent.ended', 'the agent had ended'))])
  assert.equal(withEnd[0], { id: 'agent.ended', behind: ['a.i'] })
})

test('a fault stands behind another only if that is shown', () => {
  const after = (...ids: string[]) => ({ after: ids })
  const broken = [check('a.b', wrong), check('a.c', wrong, after('a.b')), check('a.d', wrong, after('a.c'))]
  const all = [...broken, check('a.e', holds, after('a.b'))]
  const verdictsOf = (...ids: string[]) => {
    const shown = all.filter(({ id }) => ids.includes(id))
    return reportOf(all, played, { known: ids }, shown).checks.map(({ verdict }) => verdict)
  }
  assert.equal(verdictsOf('a.b', 'a.c', 'a.d', 'a.e'), ['fail', 'behind', 'behind', 'behind'])
  assert.equal(verdictsOf('a.c', 'a.d', 'a.e'), ['fail', 'behind', 'behind'])
  assert.equal(verdictsOf('a.d'), ['fail'])
  assert.equal(verdictsOf('a.b', 'a.d'), ['fail', 'behind'])
})

test('what was left out hides no fault of what depends on it', () => {
  const checks = [check('a.b', untested('nothing came')), check('a.c', wrong, { after: ['a.b'] })]
  const { checks: judged } = reported([...checks, check('a.d', holds, { after: ['a.b'] })])
  assert.equal(
    judged.map(({ id, verdict, text }) => [id, verdict, text]),
    [
      ['a.b', 'untested', 'nothing came'],
      ['a.c', 'fail', 'was wrong'],
      ['a.d', 'untested', 'blocked by a.b'],
    ],
  )
})

const outcomes: readonly [
  Outcome,
  string,
  readonly Check[],
  Partial<Parameters<typeof outcomeOf>[1]>?,
  Parameters<typeof reported>[1]?,
][] = [
  ['good', 'all hold', [check('a.b', holds)]],
  ['good', 'a should is broken', [check('a.b', wrong, { level: 'should' })]],
  ['bad', 'a should is broken, strictly', [check('a.b', wrong, { level: 'should' })], { strict: true }],
  ['good', 'a may is broken, strictly', [check('a.b', wrong, { level: 'may' })], { strict: true }],
  ['bad', 'a must is broken', [check('a.b', holds), check('a.c', wrong)]],
  ['bad', 'a must is broken and another told nothing', [check('a.b', inconclusive('x')), check('a.c', wrong)]],
  ['unsure', 'one told nothing', [check('a.b', holds), check('a.c', inconclusive('x'))]],
  ['good', 'one is untested', [check('a.b', holds), check('a.c', untested('x'))]],
  [
    'good',
    'one is untested that must be, as its author has declared',
    [check('a.b', holds), check('a.c', leftOut('x')), check('a.d', holds, { after: ['a.c'] })],
    { complete: true },
  ],
  ['bad', 'one is untested that must be', [check('a.b', holds), check('a.c', untested('x'))], { complete: true }],
  [
    'good',
    'a should is untested',
    [check('a.b', holds), check('a.c', untested('x'), { level: 'should' })],
    { complete: true },
  ],
  ['unsure', 'none was tested', [check('a.b', untested('x'))]],
  ['unsure', 'it was interrupted', [check('a.b', holds)], {}, { history: historyWith(scenario('done')) }],
  [
    'bad',
    'it was interrupted after a must was broken',
    [check('a.b', wrong)],
    {},
    { history: historyWith(scenario('done')) },
  ],
  [
    'good',
    'what is broken is not of the set',
    [check('a.b', holds), check('a.c', wrong)],
    {},
    { requirements: ['a.b'] },
  ],
  ['bad', 'what is broken is of the set', [check('a.b', holds), check('a.c', wrong)], {}, { requirements: ['a.c'] }],
  [
    'good',
    'what is broken is excused',
    [check('a.b', holds), check('a.c', wrong)],
    {},
    { baseline: { 'a.c': { verdict: 'fail', why: 'old' } } },
  ],
  [
    'bad',
    'what is excused holds by now',
    [check('a.b', holds)],
    {},
    { baseline: { 'a.b': { verdict: 'fail', why: 'old' } } },
  ],
  [
    'bad',
    'it is broken worse than is excused',
    [check('a.b', wrong)],
    {},
    { baseline: { 'a.b': { verdict: 'warn', why: 'old' } } },
  ],
  [
    'bad',
    'the excuse has expired',
    [check('a.b', wrong)],
    {},
    { baseline: { 'a.b': { verdict: 'fail', why: 'old', until: '2025-12-31' } } },
  ],
  [
    'good',
    'it is the last day of the excuse',
    [check('a.b', wrong)],
    {},
    { baseline: { 'a.b': { verdict: 'fail', why: 'old', until: '2026-01-01' } } },
  ],
  [
    'bad',
    'the excuse is for no check',
    [check('a.b', holds)],
    {},
    { baseline: { 'a.z': { verdict: 'fail', why: 'old' } } },
  ],
]

for (const [outcome, when, checks, asked = {}, given = {}] of outcomes) {
  test(`the outcome is ${outcome} when ${when}`, () => {
    assert.is(outcomeOf(reported(checks, given), { strict: false, complete: false, ...asked }), outcome)
  })
}

test('a report tells how long the run and each check took, what was bought, and which lines of the baseline are untrue', () => {
  const purchases: Happening = { kind: 'purchases', limit: 500, spent: 200, held: 100, tasks: [] }
  const history = historyWith(scenarioPlayed('play', { ms: 301 }), purchases, end)
  const baseline: Baseline = { 'a.b': { verdict: 'fail', why: 'old' }, 'a.c': { verdict: 'warn', why: 'old' } }
  const report = reported([check('a.b', holds), check('a.c', wrong)], { history, baseline })
  assert.equal([report.ms, ...report.checks.map(({ ms }) => ms)], [12, 151, 151])
  assert.equal(report.bought, { limit: 500, spent: 200, held: 100, tasks: [] })
  assert.equal(report.baseline, [
    { id: 'a.b', fault: 'stale', text: 'it says fail, and now it is pass: take the line out' },
    { id: 'a.c', fault: 'stale', text: 'it says warn, and now it is fail: change the line' },
  ])
  assert.equal(
    [played, historyWith(end)].map(one => reported([], { history: one }).bought),
    [null, null],
  )
  const cut = madeUp([begin, scenario('done'), scenario('done')], 7)
  assert.equal([reported([], { history: cut }).ms, reported([], { history: cut }).interrupted], [14, true])
  assert.is(reported([check('a.b', wrong, { level: 'may' })]).summary.levels.may.pass, 1)
})

test('of an agent that is looked at from outside no line is untrue for what could not be seen there', () => {
  const baseline: Baseline = { 'a.b': { verdict: 'fail', why: 'old' } }
  const untrueOf = (listed: object, finding: Finding) => {
    const agent = { url: '', command: null, ...listed }
    const history = madeUp([{ ...begin, agent } as Happening, scenario('done'), end], 0)
    return reported([check('a.b', finding)], { history, baseline }).baseline.map(({ fault }) => fault)
  }
  const listed = { listed: { marketplace: 'http://market.example', id: 'agt_1', slug: 'one' } }
  const unseen = untested('from outside it can’t be seen')
  assert.equal([untrueOf({}, unseen), untrueOf(listed, unseen), untrueOf(listed, holds)], [['stale'], [], ['stale']])
})

test('two verdicts of one seed say nothing', () => {
  const runs = [holds, wrong].map(finding => reported([check('a.b', finding)]))
  const report = withRepeats(runs)
  assert.is(report.checks[0]!.verdict, 'inconclusive')
  assert.is(report.checks[0]!.text, 'pass and fail in 2 runs with one seed')
  assert.is(report.summary.inconclusive, 1)
  assert.equal(withRepeats([runs[0]!, runs[0]!]), runs[0])
})

test('a new baseline excuses what is broken, and keeps the reasons that are there', () => {
  const { checks } = reported([
    check('a.z', wrong),
    check('a.b', wrong, { level: 'should' }),
    check('a.c', holds),
    check('a.d', untested('x')),
  ])
  const old = { verdict: 'fail', why: 'the old box', until: '2027-01-31' } as const
  const told = { today: '2027-01-31', known: ['a.b', 'a.c', 'a.d', 'a.e', 'a.z'] }
  const others = [
    ['a.b', { verdict: 'warn', why: 'say why' }],
    ['a.d', { verdict: 'untested', why: 'say why' }],
  ]
  assert.equal(Object.entries(baselineOf(checks, { 'a.z': old, 'a.c': old }, told)), [...others, ['a.z', old]])
  // This run did not play a.e, and there is no a.gone.
  const over = { ...told, today: '2027-02-01' }
  assert.equal(Object.entries(baselineOf(checks, { 'a.z': old, 'a.e': old, 'a.gone': old }, over)), [
    ...others,
    ['a.e', old],
    ['a.z', { verdict: 'fail', why: 'the old box' }],
  ])
})

test('areas and ids choose checks, together with what they depend on', () => {
  const checks = [
    check('a.b', holds),
    check('a.c', holds, { after: ['b.a'] }),
    check('b.a', holds, { after: ['a.b'] }),
    check('ab.c', holds),
  ]
  const ids = (some: readonly Check[]) => some.map(({ id }) => id)
  assert.equal(ids(selected(checks, ['a'])), ['a.b', 'a.c'])
  assert.equal(ids(selected(checks, ['b.a', 'ab'])), ['b.a', 'ab.c'])
  assert.equal(unknownIn(checks, ['a', 'a.x', 'c']), ['a.x', 'c'])
  assert.equal(ids(withPrerequisites(checks, selected(checks, ['a.c']))), ['a.b', 'a.c', 'b.a'])
})

test('a history that was kept gets the same report', () => {
  const kept = historyOf(historyLines(played))
  assert.equal(reported([check('a.b', wrong)], { history: kept }), reported([check('a.b', wrong)]))
  assert.throws(() => historyOf('{"kind":'), /line 1 is no JSON/)
  assert.throws(() => historyOf('{"kind":"end"}\n'), /does not begin/)
  assert.throws(() => historyOf(''), /does not begin/)
})

test.run()
