// engines: embedded; process: shared
/** Which reply is to which message, when both come within moments. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { contentOf, type Happening, History, type Recorded } from '../../src/conform/history/history.ts'
import { judge } from '../../src/conform/judging/judge.ts'

const label = 'dup.not-by-text'
const body = contentOf(Buffer.from('{"content":"You wrote: hello"}'))
const answer = { status: 200, headers: [], body }

type Timed = readonly [at: number, happening: Happening]

/** Arrives at this moment, and is answered 3 ms later. */
const message = (at: number): Timed => [
  at,
  {
    ...{
      kind: 'webhook',
      label,
      taskId: 'task_1',
      event: 'task.message',
      deliveryId: `${at}`,
      attempt: 1,
      change: null,
    },
    ...{ genuine: true, method: 'POST', url: 'http://localhost:1/', headers: [], body, answer, error: null, ms: 3 },
  },
]
const reply = (at: number): Timed => [
  at,
  {
    ...{ kind: 'callback', label, taskId: 'task_1', action: 'message', method: 'POST', path: '/', body, answer, ms: 3 },
    ...{ headers: [['X-Service-Signature', `${at}`]], signature: 'valid', fault: null },
  },
]
const rest: readonly Timed[] = [
  [0, { kind: 'task', label, taskId: 'task_1', canary: '', price: 500, sample: 'usual' }],
  [
    9_000,
    {
      ...{ kind: 'scenario', scenario: 'copies of later events', outcome: 'done' },
      why: '',
      byDeclaration: false,
      ms: 1,
    },
  ],
]

function verdict(...timed: readonly Timed[]): string {
  const events = [...rest, ...timed].map(
    ([at, one], seq): Recorded => ({ seq, lane: 'real', at, realAt: at + ('ms' in one ? one.ms : 0), ...one }),
  )
  const [judged] = judge(
    checks.filter(({ id }) => id === label),
    new History(events),
  )
  return judged!.verdict
}

test('two messages with the same words have two replies', () => {
  assert.is(verdict(message(100), reply(110), message(200), reply(210)), 'pass')
  assert.is(verdict(message(100), reply(110), message(200)), 'fail')
})

test('a reply that comes in the moment of the second message is one to that', () => {
  for (const at of [198, 199, 200, 201])
    assert.is(verdict(message(100), reply(110), message(200), reply(at)), 'pass', `${at}`)
})

test('who has replied to none before the second came may reply to both at once', () => {
  assert.is(verdict(message(100), message(110), reply(120)), 'pass')
})

test.run()
