// engines: embedded; process: shared
/** Silence is no word of the agent, and what the machine has held up is nobody's slowness: at the edges. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import type { Happening } from '../../src/conform/history/history.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { outcomeOf, reportOf } from '../../src/conform/judging/report.ts'
import { begin, historyOf, played, reply, step, task, webhook } from './made-up.ts'

/** Each happening comes so much later than the last. */
const EVERY_MS = 10_000

function verdictOf(id: string, ...happenings: readonly Happening[]): string {
  const wanted = checks.filter(one => one.id === id)
  const [{ verdict, text }] = judge(wanted, historyOf([begin, ...happenings], EVERY_MS)) as [
    ReturnType<typeof judge>[number],
  ]
  return `${verdict} ${text}`.trim()
}

const mine = 'bytes.spaces'
const silent = (error: string, attempt = 1) => webhook(mine, null, { error, attempt })
const end = played('odd bytes')
const stall = (run: number, agent: number, ms: number): Happening => ({ kind: 'stall', run, agent, ms })

test('one webhook without an answer says nothing, two do, and one that is heard when it comes again is forgotten', () => {
  for (const error of ['reset: closed', 'timeout: nothing', 'refused: nobody', 'own_fault: no socket', 'dns: none']) {
    assert.match(verdictOf(mine, silent(error), end), /^inconclusive one task\.submitted got no answer/)
    assert.is(verdictOf(mine, silent(error), webhook(mine, 200, { attempt: 2 }), end), 'pass')
  }
  const twice = [silent('reset: closed'), silent('reset: closed', 2)]
  assert.match(verdictOf(mine, ...twice, end), /^fail did not accept it: it got no answer/)
  assert.match(verdictOf(mine, silent('reset: closed'), webhook(mine, 500, { attempt: 2 }), end), /answered 500$/)
  const ours = [silent('own_fault: no socket'), silent('own_fault: no socket', 2)]
  assert.match(verdictOf(mine, ...ours, end), /^inconclusive/)
})

test('two that the machine has stood still in are no word either', () => {
  const late = (attempt: number): Happening => Object.assign({}, silent('timeout: nothing', attempt), { ms: 9_000 })
  assert.match(verdictOf(mine, late(1), late(2), end), /^fail/)
  assert.match(verdictOf(mine, late(1), late(2), stall(7_000, 0, 20_000), end), /^fail/)
  assert.match(verdictOf(mine, late(1), stall(8_000, 1_500, 20_000), late(2), end), /^inconclusive/)
})

test('of a missing answer nobody tells a wrong status', () => {
  const events = ['task.submitted', 'task.message', 'task.approved', 'task.disputed', 'task.cancelled']
  const all = events.map(event => webhook('http.ack', 200, { event }))
  const lost = webhook('http.ack', null, { event: 'task.message', error: 'reset: closed' })
  assert.is(verdictOf('http.ack-200', ...all, lost, played('every event')), 'pass')
  assert.match(verdictOf('http.ack-200', ...all, webhook('http.ack', 202), played('every event')), /^fail answered 202/)
})

test('what it has left undone counts if it had its time', () => {
  const taken = [task('first-task'), step('first-task', 'accept'), task(mine), webhook(mine, 200)]
  assert.match(verdictOf(mine, ...taken, end), /^fail took it, and never accepted/)
  assert.match(verdictOf(mine, ...taken, end, stall(4_000, 4_000, 20_000)), /^fail/)
  assert.match(verdictOf(mine, ...taken, end, stall(4_000, 4_001, 20_000)), /^inconclusive/)
})

test('what it has answered counts, however little time it had', () => {
  const test = webhook('conn.endpoint-200', 202, { taskId: 'test_1' })
  const still = stall(9_000, 1_000, 20_000)
  assert.match(verdictOf('conn.endpoint-200', test, played('first contact'), still), /^fail answered 202/)
})

test('what it has said of a sample counts, however little time it had', () => {
  const label = 'life.sample-rejected'
  const said = [task(label), reply(label, { action: 'accept' }), step(label, 'accept'), played('samples')]
  assert.match(verdictOf(label, ...said, stall(9_000, 1_000, 20_000)), /^fail accepted a sample/)
})

test('a step is none of its deeds, and a request is', () => {
  const still = stall(9_000, 1_000, 20_000)
  const accepted = [task('first-task'), step('first-task', 'accept'), played('first contact')]
  assert.match(verdictOf('life.delivers', ...accepted), /^warn accepted the task and did not deliver/)
  assert.match(verdictOf('life.delivers', ...accepted, still), /^inconclusive/)
  const id = 'hire.pays-once'
  const path = '/api/tasks/task of hire.delivered-to-buyer/approve'
  const approve: Happening = { kind: 'request', method: 'POST', path, status: 200 }
  const twice = [task('hire.delivered-to-buyer'), approve, approve, played('hires')]
  assert.match(verdictOf(id, ...twice, still), /^fail approved the same delivery again/)
})

test('a limit in time is kept against what the machine has held up', () => {
  const slow = (ms: number) => [webhook('http.ack', 200, { event: 'task.submitted', ms }), played('every event')]
  const id = 'http.ack-prompt'
  assert.is(verdictOf(id, ...slow(5_000)), 'pass')
  assert.match(verdictOf(id, ...slow(5_001)), /^warn took 5001 ms/)
  const [answered, over] = slow(5_600) as [Happening, Happening]
  assert.match(verdictOf(id, answered, stall(300, 299, 20_000), over), /^warn took 5600 ms/)
  assert.match(verdictOf(id, answered, stall(300, 300, 20_000), over), /^inconclusive the machine/)
})

test('callbacks that were read at once after a standstill are no storm, unless they are too many for all of the time', () => {
  const storm = (count: number) => Array.from({ length: count }, () => reply('cb.x', { action: 'accept', ms: 0 }))
  const judged = (count: number, ...more: Happening[]) => {
    const all = [begin, ...storm(count), ...more, played('lost callbacks')]
    const history = historyOf(all, 1)
    return judge(
      checks.filter(({ id }) => id === 'cb.no-storm'),
      history,
    )[0]!.verdict
  }
  assert.is(judged(10), 'pass')
  assert.is(judged(11), 'fail')
  assert.is(judged(11, stall(1_000, 0, 3_000)), 'inconclusive')
  assert.is(judged(12, stall(1_000, 0, 3_000)), 'fail')
  // Another that is one in any case is told, whichever comes first.
  const others = Array.from({ length: 12 }, () => reply('cb.y', { action: 'accept', ms: 0 }))
  assert.is(judged(11, stall(1_000, 0, 3_000), ...others), 'fail')
})

test('what waits for a check of which nothing could be told is not told either, and such a run is never good', () => {
  const some = checks.filter(({ id }) => id === 'sig.valid' || id === 'sig.wrong-secret')
  const lost = webhook('sig.valid', null, { error: 'reset: closed' })
  const history = historyOf([begin, lost, played('forged')])
  const report = reportOf(some, history, { known: [] })
  assert.equal(
    report.checks.map(({ verdict }) => verdict),
    ['inconclusive', 'inconclusive'],
  )
  assert.is(outcomeOf(report, { strict: false, complete: false }), 'unsure')
  const alone = reportOf(some, history, { known: [] }, some.slice(1))
  assert.is(outcomeOf(alone, { strict: false, complete: false }), 'unsure')
})

test.run()
