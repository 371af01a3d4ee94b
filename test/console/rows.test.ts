// engines: embedded; process: shared
/** What the page of a task makes of its history: rows, what was said, gaps and advice. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskHappening } from '../../src/api/task-history.ts'
import { isRow, linesOf, type Of, rowsOf, sentenceOf } from '../../src/console/task/rows.ts'

const test = suite('rows')

const MIDDAY = Date.parse('2026-11-23T12:00:00.000Z')
const at = (ms: number) => new Date(MIDDAY + ms).toISOString()

const by = (party: TaskHappening['by']['party']) => ({ party, userId: null, name: party === 'buyer' ? 'Bob' : null })
let ids = 0
const base = (ms: number, party: TaskHappening['by']['party'], realMs = ms) => ({
  id: String(++ids),
  at: at(ms),
  realAt: at(realMs),
  by: by(party),
})

const request = (ms: number, action: string, status = 200): TaskHappening => ({
  ...base(ms, 'buyer'),
  ...{ kind: 'request', action, status, error: status < 300 ? null : 'No.', ms: 12, requestId: null, exchangeId: null },
  ...{ diagnosis: null, via: 'session' },
})

const transition = (ms: number, from: Of<'transition'>['from'], to: Of<'transition'>['to']): TaskHappening => ({
  ...base(ms, 'buyer'),
  ...{ kind: 'transition', trigger: 'submit', from, to, requestId: null },
})

const advice: NonNullable<Of<'webhook'>['diagnosis']> = {
  ...{
    cause: 'refused',
    certainty: 'sure',
    isMeant: false,
    since: null,
    text: 'Wrong.',
    fix: 'Mend it.',
    commands: [],
  },
  evidence: { taskId: null, deliveryId: null, attempt: null, exchangeId: null, status: null },
} as never

const webhook = (ms: number, attempt: number, status: number, realMs = ms): TaskHappening => ({
  ...base(ms, 'marketplace', realMs),
  ...{ kind: 'webhook', deliveryId: 'd', agentId: 'a', event: 'task.submitted', attempt, redeliveryOf: null, status },
  ...{ outcome: status < 300 ? 'delivered' : 'retry', reason: null, message: 'The agent said no', ms: 5 },
  ...{ nextAttemptAt: null, exchangeId: null, diagnosis: status < 300 ? null : advice },
})

const message = (ms: number, text: string): TaskHappening => ({
  ...base(ms, 'buyer'),
  ...{ kind: 'message', messageId: 'm', senderRole: 'buyer', text, cut: false },
})

const dispute = (ms: number): TaskHappening => ({ ...base(ms, 'buyer'), kind: 'dispute', reason: 'Half is missing.' })

test('a row has the state of its moment, and tells how long the one before lasted', () => {
  const rows = rowsOf([
    request(0, 'create', 201),
    request(80, 'submit'),
    transition(85, 'draft', 'pending'),
    webhook(90, 1, 401),
    webhook(2_000, 2, 200),
    transition(2_500, 'pending', 'in_progress'),
    request(3_000, 'dispute'),
    dispute(3_001),
  ])
  assert.equal(
    rows.map(({ state }) => state),
    ['draft', 'draft', 'pending', 'pending', 'pending', 'in_progress', 'in_progress'],
  )
  assert.is(rows[5]!.result!.more, 'after 2.4 s, 1 failed attempt')
  assert.equal(rows[6]!.said, [{ text: 'Half is missing.', cut: false }])
  assert.is(rowsOf([...[dispute(0)], request(9, 'message')])[1]!.state, 'disputed')
})

test('what was said stands with the request that said it, and alone if there is none', () => {
  const together = rowsOf([request(0, 'message', 201), message(3, 'Hello')])
  assert.equal(
    together.map(({ said }) => said.map(({ text }) => text)),
    [['Hello']],
  )
  const alone = rowsOf([request(0, 'message', 400), message(3, 'Hello')])
  assert.equal(
    alone.map(({ said }) => said.length),
    [0, 1],
  )
})

test('the time stands once for what happened at once', () => {
  const rows = rowsOf([request(0, 'submit'), transition(4, 'draft', 'pending'), webhook(4, 1, 200), message(500, 'Hi')])
  assert.equal(
    rows.map(({ isTimed }) => isTimed),
    [true, false, true, true],
  )
})

test('advice stands once, behind the first failure that has it; failed alone leaves only these', () => {
  const rows = rowsOf([request(0, 'submit'), webhook(5, 1, 401), webhook(50, 2, 401), webhook(90, 3, 200)])
  const words = (show: '' | 'failed') =>
    linesOf(rows, show).map(line => (isRow(line) ? line.beside || line.what : 'advice'))
  assert.equal(words(''), ['submit', '1 of 3', 'advice', '2 of 3', '3 of 3'])
  assert.equal(words('failed'), ['1 of 3', 'advice', '2 of 3'])
  assert.is(sentenceOf(rows[1]!), 'Webhook: task.submitted, 1 of 3, 401, The agent said no, 5 ms')
})

test('where nothing happened for long a gap says so, and that the clock was moved', () => {
  const gaps = (rows: TaskHappening[]) => linesOf(rowsOf(rows), '').flatMap(line => ('gap' in line ? [line] : []))
  assert.equal(gaps([webhook(0, 1, 200), webhook(9_000, 2, 200)]), [])
  assert.equal(
    gaps([webhook(0, 1, 200), webhook(24_005, 2, 200)]).map(({ words, more }) => words + more),
    ['Nothing for 24 s'],
  )
  assert.equal(
    gaps([webhook(0, 1, 200), webhook(48 * 3_600_000, 2, 200, 1_800)]).map(({ words }) => words),
    ['1 d 23 h passed in 1.8 s'],
  )
})

test.run()
