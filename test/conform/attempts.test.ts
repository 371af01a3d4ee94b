// engines: embedded; process: shared
/** What counts as work that nobody has asked for: the marketplace refuses it, and the judge has to see it all the same. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { unaskedDelivery } from '../../src/conform/checks/attempts.ts'
import { History, type Recorded } from '../../src/conform/history/history.ts'

interface Sent {
  readonly task?: string
  readonly at: number
  readonly content: string
  readonly status?: number
  readonly signature?: string
}

const task = (taskId: string, label: string) => ({ kind: 'task', taskId, label, realAt: 0, canary: '', price: 500 })
const asked = (at: number) => ({ kind: 'step', taskId: 'one', trigger: 'request_revision', realAt: at })
const delivers = ({ task = 'one', at, content, status = 200, signature = `${at}` }: Sent) => ({
  ...{ kind: 'callback', taskId: task, action: 'deliver', realAt: at, ms: 1, fault: null },
  headers: [['X-Service-Signature', signature]],
  body: { text: JSON.stringify({ content }), size: 0 },
  answer: { status, headers: [], body: { text: '', size: 0 } },
})

const historyOf = (...events: object[]) =>
  new History(events.map((event, at) => ({ seq: at + 1, ...event }) as Recorded))

const unasked = (...events: object[]) =>
  unaskedDelivery(historyOf(task('first', 'first-task'), task('one', 'dup.retry'), ...events), 'one')?.realAt

const first = delivers({ at: 10, content: 'a' })
const habit = [
  delivers({ task: 'first', at: 1, content: 'x' }),
  delivers({ task: 'first', at: 5, content: 'x', status: 400 }),
]

test('other content after what was taken is work that nobody has asked for, though it is refused', () => {
  assert.is(unasked(first, delivers({ at: 20, content: 'b', status: 400 })), 20)
})

test('the very same request again is none', () => {
  assert.is(unasked(first, delivers({ at: 20, content: 'a', signature: '10' })), undefined)
})

test('the same content once more is work of an agent that sends things once, and none of one that sends all twice', () => {
  const again = delivers({ at: 20, content: 'a', status: 400 })
  assert.is(unasked(first, again), 20)
  assert.is(unasked(...habit, first, again), undefined)
  assert.is(unasked(...habit, first, again, delivers({ at: 30, content: 'a', status: 400 })), 30)
})

test('a delivery for a revision is asked for, and what was refused before one was taken is no second work', () => {
  assert.is(unasked(first, asked(15), delivers({ at: 20, content: 'b' })), undefined)
  assert.is(unasked(delivers({ at: 5, content: 'too long', status: 400 }), first), undefined)
  assert.is(unasked(first, asked(15), delivers({ at: 20, content: 'b' }), delivers({ at: 30, content: 'a' })), 30)
})

test.run()
