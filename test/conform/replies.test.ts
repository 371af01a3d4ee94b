// engines: embedded; process: shared
/** Which reply is to which message, when both come within moments. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { contentOf, type Happening, History, type Recorded } from '../../src/conform/history/history.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { played, reply, task, webhook } from './made-up.ts'

const label = 'dup.not-by-text'
const body = contentOf(Buffer.from('{"content":"You wrote: hello"}'))

type Timed = readonly [at: number, happening: Happening]

const about = { taskId: 'task_1', body }

/** Arrives at this moment, and is answered 3 ms later. */
const message = (at: number): Timed => [
  at,
  webhook(label, 200, { ...about, event: 'task.message', deliveryId: `${at}`, ms: 3 }),
]
const repliedAt = (at: number): Timed => [
  at,
  reply(label, { ...about, headers: [['X-Service-Signature', `${at}`]], ms: 3 }),
]
const rest: readonly Timed[] = [
  [0, { ...task(label), ...about } as Happening],
  [9_000, played('copies of later events')],
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
  assert.is(verdict(message(100), repliedAt(110), message(200), repliedAt(210)), 'pass')
  assert.is(verdict(message(100), repliedAt(110), message(200)), 'fail')
})

test('a reply that comes in the moment of the second message is one to that', () => {
  for (const at of [198, 199, 200, 201])
    assert.is(verdict(message(100), repliedAt(110), message(200), repliedAt(at)), 'pass', `${at}`)
})

test('who has replied to none before the second came may reply to both at once', () => {
  assert.is(verdict(message(100), message(110), repliedAt(120)), 'pass')
})

test.run()
