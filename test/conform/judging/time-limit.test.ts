// engines: embedded; process: shared
/** What the end of a run that had no more time cuts off, and what it says of slow agents: on histories that are made up. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limitIn } from '../../../src/cli/conformance/time-limit.ts'
import { checks } from '../../../src/conform/checks/index.ts'
import type { Happening, History } from '../../../src/conform/history/history.ts'
import { broken, type Check, type Finding, holds, inconclusive } from '../../../src/conform/judging/check.ts'
import { judge } from '../../../src/conform/judging/judge.ts'
import { reportOf, withRepeats } from '../../../src/conform/judging/report.ts'
import { slownessInWords, typed } from '../../../src/conform/judging/time-limit.ts'
import { timeOverIn } from '../../../src/conform/reports/run-tests.ts'
import { at } from '../edge.ts'
import { begin, historyOf as madeUp, played, step, webhook } from '../made-up.ts'

const REASON = 'the time of the run was over: it had 3m, --timeout 6m gives it more'

const end: Happening = { kind: 'end', interrupted: true, limitMs: 180_000, ms: 180_000 }
const answeredAfter = (ms: number, genuine = true) => webhook('a', 200, { ms, genuine })
/** Each of these is 30 s later than the last. */
const historyWith = (...happenings: readonly Happening[]) => madeUp([begin, ...happenings], 30_000, 0)

test('what waits for a check that was cut off is cut off too, and what was seen to be broken stays so', () => {
  const some = checks.filter(({ id }) => ['sig.valid', 'sig.wrong-secret', 'sig.near-limit'].includes(id))
  const verdicts = (history: History) => judge(some, history).map(({ verdict, text }) => `${verdict} ${text}`)
  assert.equal(
    verdicts(historyWith(played('buyers'), end)),
    some.map(() => `inconclusive ${REASON}`),
  )
  const believed = webhook('sig.wrong-secret', 200, { genuine: false })
  const [, , wrong] = verdicts(historyWith(believed, end))
  assert.match(wrong!, /^fail took it/)
  const owes = some.map((one): Check => ({ ...one, after: [], judge: () => broken('has not come', { seq: 1 }) }))
  const [owed] = judge(owes, historyWith(end))
  assert.equal([owed!.verdict, owed!.text], ['inconclusive', REASON])
})

test('what the end has cut off in the last of several runs was decided by those before', () => {
  const runOf = (history: History, ...findings: readonly Finding[]) => {
    const some = findings.map(
      (finding, at): Check => ({ ...checks[at]!, level: 'must', after: [], judge: () => finding }),
    )
    return reportOf(some, history, { known: [] })
  }
  const wrong = broken('was wrong', { seq: 2 })
  const deed: Happening = { kind: 'request', method: 'GET', path: '/', status: null }
  const complete = historyWith(
    deed,
    ...[...new Set(checks.slice(0, 3).map(({ scenario }) => scenario))].map(one => played(one)),
  )
  const before = runOf(complete, holds, wrong, holds)
  const lastBefore = runOf(complete, holds, broken('was wrong again', { seq: 2 }), holds)
  const {
    checks: judged,
    summary,
    interrupted,
  } = withRepeats([before, before, lastBefore, runOf(historyWith(deed, end), holds, holds, wrong)])
  assert.equal(
    judged.map(({ verdict, text, evidence }) => [verdict, text, evidence]),
    [
      ['pass', '', []],
      ['fail', 'was wrong again', []],
      ['inconclusive', 'pass and fail in 4 runs with one seed', [2]],
    ],
  )
  assert.equal([summary.pass, summary.fail, summary.inconclusive, interrupted], [1, 1, 1, true])
})

test('an agent that answers late, or works long, is told as the cause, and no other is', () => {
  const slow = historyWith(answeredAfter(20_000), answeredAfter(1), answeredAfter(21_000), answeredAfter(22_000), end)
  assert.equal(slownessInWords(slow), ['Half of the 4 webhooks were answered only after 21.0 s or later'])
  const few = historyWith(
    answeredAfter(20_000),
    answeredAfter(1),
    answeredAfter(2),
    answeredAfter(20_000, false),
    answeredAfter(20_000, false),
  )
  assert.equal(slownessInWords(few), [])
  const [accept, deliver] = [step('t', 'accept', 'in_progress'), step('t', 'deliver', 'delivered')]
  const works = historyWith(accept, step('u', 'accept', 'in_progress'), deliver, step('u', 'deliver', 'delivered'))
  assert.equal(slownessInWords(works), ['Half of the deliveries came 60.0 s or longer after the agent had begun'])
  const report = reportOf([], slow, { known: [] })
  assert.is(
    timeOverIn(report, slow),
    'The run was ended after 3m, as its time was over: 0 checks are inconclusive. Half of the 4 webhooks were answered only after 21.0 s or later. --timeout 6m gives it more time',
  )
  assert.is(timeOverIn({ ...report, limitMs: null }, slow), null)
})

test('a duration is told as the flag takes it', () => {
  for (const [ms, text] of [
    [90_000, '90s'],
    [2_700_000, '45m'],
    [1_500, '1500ms'],
  ] as const) {
    assert.is(typed(ms), text)
    assert.is(limitIn(text, undefined, 1), ms)
  }
})

test('the flag goes before the file, and by default each repeat has as much time as one run', () => {
  assert.is(limitIn('10m', 5_000, 3), 600_000)
  assert.is(limitIn(undefined, 5_000, 3), 5_000)
  assert.is(limitIn(undefined, undefined, 3), 3 * 45 * 60_000)
  assert.throws(() => limitIn('8d', undefined, 1), /--timeout is the time that the whole run may take: 1s to 7d/)
  assert.throws(() => limitIn(undefined, 10, 1), /timeout in the file of the agent is the time/)
})

test('at the edges: half of them, by more than five seconds or ten', () => {
  const answers = (...times: readonly number[]) => slownessInWords(historyWith(...times.map(ms => answeredAfter(ms))))
  assert.equal(answers(5_000, 5_000), [])
  assert.equal(answers(5_001), [])
  assert.equal(answers(1, 5_001), ['Half of the 2 webhooks were answered only after 5.0 s or later'])
  assert.equal(answers(1, 5_001, 5_001), ['Half of the 3 webhooks were answered only after 5.0 s or later'])
  assert.equal(answers(1, 1, 5_001), [])
  const works = (ms: number) => {
    const labels = ['t', 'u']
    const begun = labels.map(label => at(1_000, step(label, 'accept', 'in_progress')))
    return slownessInWords(historyWith(...begun, ...labels.map(label => at(1_000 + ms, step(label, 'deliver')))))
  }
  assert.equal(works(10_000), [])
  assert.equal(works(10_001), ['Half of the deliveries came 10.0 s or longer after the agent had begun'])
})

test('what it owes may come a second after its scenario, of a run that was ended', () => {
  const [one] = checks
  const owes: Check = { ...one!, after: [], judge: () => broken('has not come', { seq: 1 }) }
  const endedAfter = (ms: number, interrupted = true) => {
    const over = { ...end, interrupted } as Happening
    return judge([owes], historyWith(at(60_000, played(one!.scenario)), at(60_000 + ms, over)))[0]!.verdict
  }
  assert.equal([endedAfter(999), endedAfter(1_000)], ['inconclusive', 'fail'])
  assert.is(endedAfter(999, false), 'fail')
})

test('what waits for a check of which nothing could be told says so, unless the time was over', () => {
  const [one, other] = checks.slice(0, 2).map((check): Check => ({ ...check, after: [], judge: () => holds }))
  const waiting = { ...other!, after: [one!.id] }
  const done = [played(one!.scenario), played(other!.scenario)]
  const textOf = (finding: Finding, last: Happening) =>
    judge([{ ...one!, judge: () => finding }, waiting], historyWith(...done, last))[1]!.text
  const told = `blocked by ${one!.id}, of which nothing could be told`
  assert.is(textOf(inconclusive('no power'), end), told)
  assert.is(textOf(inconclusive(REASON), end), REASON)
  assert.is(textOf(inconclusive(REASON), { ...end, limitMs: undefined } as unknown as Happening), told)
})

test.run()
