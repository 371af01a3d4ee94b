// engines: embedded; process: shared
/** A webhook that is refused shows something only beside genuine ones that are not. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import type { Happening } from '../../src/conform/history/history.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { historyOf, played, webhook } from './made-up.ts'

const wanted = checks.filter(({ id }) => ['sig.valid', 'sig.stale-301s', 'sig.refusal-401'].includes(id))

type Answered = number | 'reset' | 'refused' | 'timeout'

const asked = (label: string, genuine: boolean, answered: Answered) =>
  typeof answered === 'number'
    ? webhook(label, answered, { genuine })
    : webhook(label, null, { genuine, error: `${answered}: no answer` })

const before = (answered: Answered) => asked('sig.valid', true, answered)
const forged = (answered: Answered) => asked('sig.stale-301s', false, answered)
const after = (answered: Answered) => asked('sig.valid/again', true, answered)
const end = played('forged')
const quiet: Happening = { kind: 'quiet', ms: 500 }

function verdict(id: string, ...happenings: readonly Happening[]): string {
  return judge(wanted, historyOf(happenings)).find(one => one.id === id)!.verdict
}

const rows: readonly (readonly [expected: string, before: Answered, forged: Answered, after: Answered])[] = [
  ['pass', 200, 401, 200],
  ['pass', 202, 400, 204],
  ['pass', 200, 'reset', 200],
  ['pass', 200, 'timeout', 200],
  ['fail', 200, 200, 200],
  // It refuses everything, or is down since then, or was busy: nothing is known.
  ['untested', 401, 401, 401],
  ['untested', 200, 401, 500],
  // That once nothing was heard may be the fault of anybody between.
  ['inconclusive', 200, 401, 'refused'],
  ['inconclusive', 200, 'refused', 200],
  ['inconclusive', 200, 429, 200],
]

for (const [expected, first, middle, last] of rows) {
  test(`genuine ${first}, forged ${middle}, genuine ${last}: ${expected}`, () => {
    assert.is(verdict('sig.stale-301s', before(first), forged(middle), after(last), end, quiet), expected)
  })
}

test('a busy answer to the genuine one is no refusal, and the repeat counts', () => {
  assert.is(verdict('sig.valid', before(429), before(200), end, quiet), 'pass')
  assert.is(verdict('sig.stale-301s', before(429), before(200), forged(401), after(200), end, quiet), 'pass')
})

test('one that gets no answer is recorded when it is given up, and has the genuine ones beside it that were sent before and after', () => {
  const unanswered = webhook('sig.stale-301s', null, { genuine: false, error: 'timeout: no answer', ms: 3 })
  assert.is(verdict('sig.stale-301s', before(200), after(200), unanswered, end, quiet), 'pass')
  assert.is(verdict('sig.stale-301s', before(200), after(500), unanswered, end, quiet), 'untested')
})

test('without the quiet time nobody knows whether something came of it', () => {
  assert.is(verdict('sig.stale-301s', before(200), forged(401), after(200), end), 'inconclusive')
})

test('any status but 401 is worth a warning, no answer too if that is no single one', () => {
  const refusal = (...sent: readonly Happening[]) =>
    verdict('sig.refusal-401', before(200), ...sent, after(200), end, quiet)
  for (const answered of [400, 403] as const) assert.is(refusal(forged(answered)), 'warn')
  assert.is(refusal(forged('reset')), 'inconclusive')
  assert.is(refusal(forged('reset'), forged('reset')), 'warn')
  assert.is(verdict('sig.refusal-401', before(200), forged(429), after(200), end, quiet), 'untested')
})

test.run()
