// engines: embedded; process: shared
/** What an agent that has ended by itself is judged for: histories that are made up. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import type { Happening } from '../../src/conform/history/history.ts'
import { deathsIn, ENDED, lastHeard } from '../../src/conform/judging/deaths.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { type Report, reportOf } from '../../src/conform/judging/report.ts'
import { deathInWords, lastWordsOf } from '../../src/conform/reports/run-tests.ts'
import { begin, historyOf, played, reply, step, task, webhook } from './made-up.ts'

const ended: Happening = {
  ...{ kind: 'process', what: 'ended', text: 'by SIGSEGV', ms: 0 },
  death: { code: null, signal: 'SIGSEGV', lastWords: ['oh'] },
}
const stopped: Happening = { kind: 'process', what: 'ended', text: 'after SIGTERM', ms: 20 }
const ready: Happening = { kind: 'process', what: 'ready', text: '', ms: 20 }
function verdictOf(id: string, ...happenings: readonly Happening[]): string {
  const [{ verdict, text }] = judge(
    checks.filter(one => one.id === id),
    historyOf(happenings, 1_000, 0),
  ) as [ReturnType<typeof judge>[number]]
  return `${verdict} ${text}`
}

const BEHIND = 'behind the agent had ended by SIGSEGV'
const refused = (label: string) => webhook(label, null, { error: 'refused: Nothing listens' })

test('what nobody was there for is behind the end, and says why', () => {
  const other = webhook('http.chunked', 200)
  assert.is(verdictOf('bytes.spaces', other, ended, refused('bytes.spaces'), played('odd bytes')), BEHIND)
  assert.is(verdictOf('bytes.spaces', other, ended, played('odd bytes')), BEHIND)
  assert.is(verdictOf('bytes.spaces', other, ended), BEHIND)
})

test('what was accepted before, and never done, is no fault either', () => {
  const [first, mine] = ['first-task', 'bytes.spaces']
  const before = [task(first), step(first, 'accept'), task(mine), webhook(mine, 200)]
  const other = webhook('http.chunked', 200)
  assert.match(verdictOf(mine, ...before, other, played('odd bytes')), /^fail took it, and never accepted/)
  assert.is(verdictOf(mine, ...before, other, ended, played('odd bytes')), BEHIND)
})

test('what it has said or done before counts', () => {
  const mine = webhook('bytes.spaces', 400)
  const other = webhook('http.chunked', 200)
  assert.match(verdictOf('bytes.spaces', mine, other, ended, played('odd bytes')), /^fail did not accept it/)
  const believed = webhook('sig.stale-day', 200, { genuine: false })
  assert.match(verdictOf('sig.stale-day', believed, other, ended, played('forged')), /^fail took it/)
})

test('the check whose webhook it has ended of is broken', () => {
  const cut = webhook('rel.not-json', null, { error: 'reset: closed', genuine: false })
  const next = refused('rel.not-json/next')
  assert.match(verdictOf('rel.not-json', cut, next, ended, ready, played('no webhooks')), /^warn was not there/)
  const answered = webhook('rel.not-json', 400, { genuine: false })
  assert.match(verdictOf('rel.not-json', answered, ended, next, ready, played('no webhooks')), /^warn was not there/)
})

test('of several webhooks that were under way all are named', () => {
  const cut = (label: string) => webhook(label, null, { error: 'reset: closed', genuine: false })
  const when = (one: Happening, realAt: number): Happening => Object.assign({}, one, { realAt })
  const both = [when(cut('rel.not-json'), 900), when(cut('http.chunked'), 950), when(ended, 1_000)]
  const rest = [refused('rel.not-json/next'), ready, played('no webhooks', { ms: 60_000 })]
  const history = historyOf([...both, ...rest], 1_000, 0)
  const [death] = deathsIn(history)
  const evidence = lastHeard(history, death!).map(({ seq }) => seq)
  const told = deathInWords({ how: '', ...death!.death!, afterMs: 0, behind: [], evidence }, history)
  assert.match(told, /with 2 webhooks under way \(.*rel\.not-json; .*http\.chunked\)/)
})

test('what it has ended of: within a second, unless that was proven; else the last that it has answered', () => {
  const when = (one: Happening, realAt: number): Happening => Object.assign({}, one, { realAt })
  const end = when(ended, 10_000)
  const heardBy = (...sent: readonly Happening[]) => {
    const history = historyOf([begin, ...sent, end], 1, 0)
    return lastHeard(history, deathsIn(history)[0]!).map(({ label }) => label)
  }
  const told = (label: string, realAt: number, ms = 1) => when(webhook(label, 200, { ms }), realAt)
  const cut = (label: string, realAt: number, error = 'reset') =>
    when(webhook(label, null, { error, ms: realAt - 9_990 }), realAt)
  assert.equal(heardBy(told('a', 9_001), told('b', 9_500)), ['b'])
  assert.equal(heardBy(told('a', 9_000), told('b', 8_000)), ['b'])
  assert.equal(heardBy(told('a', 9_500), cut('b', 11_000)), ['b'])
  assert.equal(heardBy(cut('a', 10_400), cut('b', 10_500)), ['a', 'b'])
  assert.equal(heardBy(told('a', 9_500), told('b', 10_500, 600)), ['a'])
  assert.equal(heardBy(told('a', 9_500), when(webhook('b', null, { error: 'refused', ms: 600 }), 10_500)), ['a'])
  assert.equal(heardBy(told('a', 9_500), when(webhook('b', null, { error: 'reset', ms: 1 }), 10_500)), ['a'])
  const odd = when(webhook('odd', 200, { change: 'x' }), 9_400)
  assert.equal(heardBy(told('a', 9_500), odd), ['odd'])
  const value = { death: 5, culprit: 3 }
  const proof = { kind: 'observation', label: ENDED, value } as Happening
  assert.equal(heardBy(odd, told('a', 9_500), proof), ['a'])
  assert.equal(heardBy(odd, told('a', 9_500), { ...proof, value: { death: 4, culprit: 3 } } as Happening), ['odd'])
})

test('in a run that was interrupted, what it still owed says nothing of it; what it did counts, and what was sure before', () => {
  const mine = [task('bytes.spaces'), webhook('bytes.spaces', 200)]
  const first = [task('first-task'), step('first-task', 'accept')]
  const end: Happening = { kind: 'end', interrupted: true, ms: 1 }
  const owed = [...first, ...mine]
  assert.is(verdictOf('bytes.spaces', ...owed, end), 'inconclusive the run ended before')
  assert.match(verdictOf('bytes.spaces', ...owed, played('odd bytes'), end), /^fail took it, and never accepted/)
  const whole: Happening = { ...end, interrupted: false }
  assert.match(verdictOf('bytes.spaces', ...owed, whole), /^fail took it, and never accepted/)
  const believed = webhook('sig.stale-day', 200, { genuine: false })
  assert.match(verdictOf('sig.stale-day', believed, end), /^fail took it/)
})

test('what comes when it is back, or was over before, is judged as ever', () => {
  const late = webhook('bytes.spaces', null, { error: 'reset: closed' })
  const other = webhook('http.chunked', 200)
  const twice = [late, late]
  assert.match(verdictOf('bytes.spaces', ...twice, other, played('odd bytes'), other, ended), /^fail did not accept/)
  const after = [other, ended, ready, other, ...twice, other, played('odd bytes')]
  assert.match(verdictOf('bytes.spaces', ...after), /^fail did not accept/)
  const stoppedBefore = [other, stopped, ...twice, other, played('odd bytes')]
  assert.match(verdictOf('bytes.spaces', ...stoppedBefore), /^fail did not accept/)
})

test('what it does again when it is back is what it forgot with its end, and no copy that it failed to know', () => {
  const label = 'dup.message/copied'
  const message: Happening = webhook(label, 200, { event: 'task.message' })
  const twice = [message, reply(label), message]
  const rest = [reply(label), played('copies of later events', { ms: 60_000 })]
  assert.match(verdictOf('dup.message', task(label), ...twice, ...rest), /^fail replied to the copy too/)
  assert.is(
    verdictOf('dup.message', task(label), ...twice, ended, ready, ...rest),
    `${BEHIND}, and what it knew with it`,
  )
  const both = [...twice, reply(label), ended, ready, rest[1]!]
  assert.match(verdictOf('dup.message', task(label), ...both), /^fail replied to the copy too/)
})

test('what it had no time to do after a fault is no fault of its own, and what it did is', () => {
  const label = 'cb.retry-after'
  const met = reply(label, { fault: { name: '429', status: 429 } })
  const after = [ended, ready, played('lost callbacks', { ms: 60_000 })]
  assert.is(verdictOf(label, met, ...after), BEHIND)
  assert.match(verdictOf(label, met, ready, after[2]!), /^warn did not try again after a 429/)
  assert.match(verdictOf(label, met, reply(label), ...after), /^warn tried again after \d+ ms/)
})

test('a must that it has ended of is the one cause, and what nobody was there for is behind it', () => {
  const cut = webhook('bytes.markup', null, { error: 'reset: closed', change: 'markup' })
  const events = [
    begin,
    webhook('http.chunked', 200),
    cut,
    ended,
    refused('bytes.spaces'),
    ready,
    played('odd bytes', { ms: 60_000 }),
  ]
  const both = checks.filter(({ id }) => ['bytes.markup', 'bytes.spaces'].includes(id))
  const causesOf = (some: typeof checks) => reportOf(some, historyOf(events, 1_000, 0), { known: [] }).causes
  assert.equal(causesOf(both), [{ id: 'bytes.markup', behind: ['bytes.spaces'] }])
  assert.equal(causesOf(both.filter(({ id }) => id === 'bytes.spaces')), [{ id: ENDED, behind: ['bytes.spaces'] }])
  const should = checks.map(one => (one.id === 'bytes.markup' ? { ...one, level: 'should' as const } : one))
  assert.equal(causesOf(should.filter(({ id }) => both.some(one => one.id === id))), [
    { id: ENDED, behind: ['bytes.spaces'] },
  ])
})

test('that it is down at the end is no silence', () => {
  const away = webhook('rel.alive', null, { error: 'refused: Nothing listens', taskId: 'test_1' })
  const last = played('last contact')
  assert.match(verdictOf('rel.alive', ready, webhook('http.chunked', 200), ended, away, last), /^fail failed the test/)
  assert.match(verdictOf('rel.alive', ended, ready, away, last), /^inconclusive one/)
})

test('of a stack the first line of code is told, and of much the end', () => {
  const frames = ['    at one (a.js:1:1)', '    at two (b.js:2:2)']
  const told = (...lastWords: string[]) => lastWordsOf({ lastWords } as unknown as Report['deaths'][number])
  assert.equal(told('Error: no', ...frames, '', 'Node.js'), ['Error: no', frames[0], 'Node.js'])
  assert.is(told(...Array.from({ length: 20 }, (_, at) => `${at}`)).join(' '), '12 13 14 15 16 17 18 19')
})

test.run()
