// engines: embedded; process: shared
/** What dev prints of the entries of its log: one line each, in columns on a terminal, causes before effects. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { toRecord } from '../../src/api/diagnosis/record.ts'
import { nextSteps } from '../../src/cli/connection/next-steps.ts'
import { CausalOrder } from '../../src/cli/log/causal-order.ts'
import { entryText } from '../../src/cli/log/entry-columns.ts'
import { entryLine } from '../../src/cli/log/entry-lines.ts'
import { entryLog } from '../../src/cli/log/lines.ts'
import { createUi, type Ui } from '../../src/cli/output/ui.ts'
import type { LogEntry, StampedEntry } from '../../src/market/log.ts'
import { until } from '../support/patience.ts'

const NOW = new Date(2026, 0, 1, 12, 3, 41).getTime()
const TASK = `task_${'0'.repeat(26)}a1b2c3`
const AGENT = `agt_${'0'.repeat(26)}d4e5f6`
const names = new Map([
  ['usr_1', 'buyer'],
  [AGENT, 'swift-translator'],
])
let seq = 0
const stamped = (entry: LogEntry, ahead = 0): StampedEntry => ({ seq: ++seq, at: NOW + ahead, realAt: NOW, ...entry })

const about = { taskId: TASK, agentId: AGENT }
const sent = { type: 'webhook', event: 'task.submitted', ...about, deliveryId: 'dlv_1', attempt: 1 } as const
const delivered: LogEntry = { ...sent, outcome: 'delivered', status: 200, reason: null, ms: 41, nextAttemptAt: null }
const nextAttemptAt = new Date(NOW + 5_000).toISOString()
const refused: LogEntry = { ...delivered, outcome: 'retry', status: 500, nextAttemptAt }
const answer = { type: 'callback', ...about, action: 'accept', via: 'signature', error: null, ms: 3 } as const
const accepted: LogEntry = { ...answer, status: 200, taskStatus: 'in_progress' }
const unsigned: LogEntry = { ...answer, status: 401, taskStatus: null, error: 'the signature does not match' }
const held: LogEntry = {
  type: 'money',
  kind: 'hold',
  amount: 500,
  from: 'available:usr_1',
  to: 'held:usr_1',
  taskId: TASK,
}
const asked = { type: 'request', requestId: 'r', userId: null, address: '::1', ms: 2.4 } as const

const ui = createUi({ isTTY: false, write: () => true } as unknown as NodeJS.WriteStream)

const shown = (entry: LogEntry, width: number | null = 100, ahead = 0): string[] => {
  const whole = stamped(entry, ahead)
  const line = entryLine(whole, names)
  return line ? entryText(ui, line, whole, names, width) : []
}

test('one aligned line for an exchange and for money, with the name of the agent at the end', () => {
  const [webhook] = shown(delivered)
  const [callback] = shown(accepted)
  assert.is(webhook, `12:03:41  …a1b2c3  → task.submitted                 200  41 ms${' '.repeat(22)}swift-translator`)
  assert.match(callback!, /^12:03:41 {2}…a1b2c3 {2}← accept {25}200 {2}in progress {2}3 ms +swift-translator$/)
  assert.equal(webhook!.length, callback!.length)
  assert.equal(shown(held), ['12:03:41  …a1b2c3  $ 5.00 buyer available → held'])
  const deed = shown({ type: 'persona', persona: 'picky', step: 'cancel', ...about, message: 'picky cancels' })
  assert.match(deed[0]!, /^12:03:41 {2}…a1b2c3 {2}☺ picky cancels +swift-translator$/)
})

test('a path that is too long for the terminal is cut in its middle: its end, the status and the time stay', () => {
  const path = '/api/admin/agents/a-slug-of-forty-characters-as-many-have/check-connection-now'
  const entry = { ...asked, method: 'POST', path, route: null, status: 200 } as LogEntry
  for (const width of [70, 80, 100]) {
    const [row] = shown(entry, width)
    assert.ok(row!.length <= width, row)
    assert.match(row!, /· POST \/.*…\S*connection-now 200 {2}2 ms$/)
  }
  assert.match(shown(entry, 200)[0]!, `POST ${path} 200  2 ms`)
})

test('the clock is on a line only when it is ahead', () => {
  assert.match(shown(held, 100, 52 * 3_600_000)[0]!, /^12:03:41 \+2d04h {2}…a1b2c3/)
  assert.match(shown(held, 100, 3_660_000)[0]!, /^12:03:41 \+01h01m {2}/)
  assert.match(shown(held, 100, 65_000)[0]!, /^12:03:41 \+01m05s {2}/)
  assert.match(shown(held, 100, 3_600_000)[0]!, /^12:03:41 \+01h00m {2}/)
  assert.match(shown(held, 100, 24 * 3_600_000)[0]!, /^12:03:41 \+1d00h {2}/)
  assert.match(shown(held, 100, 1_000)[0]!, /^12:03:41 \+00m01s {2}/)
  assert.match(shown(held, 100, 999)[0]!, /^12:03:41 {2}/)
})

test('below a failure: why, and the command that helps; rubbish is quoted with its control characters in sight', () => {
  const page = `<html>\n\u001b[31m\u0007${'x'.repeat(100)}`
  const [line, why, help] = shown({ ...refused, responseBody: page, responseBytes: 1_234 } as LogEntry, 140)
  assert.match(line!, /500 {2}41 ms {2}“<html> \\u001b\[31m\\u0007x+…” 1\.2 KB/)
  assert.is(why!.trim(), 'The agent answered 500; a 2xx is needed. Again in 5 s.')
  assert.is(help!.trim(), nextSteps.testConnection('swift-translator'))
  const dead = {
    ...delivered,
    outcome: 'failed',
    status: null,
    reason: 'refused',
    message: 'Nothing listens.',
  } as LogEntry
  assert.equal(
    shown(dead)
      .slice(1)
      .map(text => text.trim())[0],
    'Nothing listens. It is not sent again by itself.',
  )
  const found = { cause: 'other_agents_secret', certainty: 'sure', text: 'It was signed with another secret.' } as const
  const explained = shown({ ...unsigned, diagnosis: toRecord(found, { isDev: true, agent: 'swift' }) } as LogEntry)
  assert.match(
    explained.slice(1).join(' ').replace(/\s+/g, ' '),
    /It was signed with another secret\. Give each agent its own/,
  )
  assert.match(explained.at(-1)!, 'test-connection swift')
  assert.match(shown(unsigned)[1]!, /^ +the signature does not match$/)
  assert.equal(shown({ ...delivered, responseBody: 'ok', responseBytes: 2 } as LogEntry), shown(delivered))
})

test('a signed callback that a real task would refuse is a warning, another ends the test', () => {
  const check = { type: 'check', agentId: AGENT, check: 5, name: 'callback', status: 'passed', durationMs: 3 } as const
  const message = 'A validly signed callback arrived'
  assert.match(shown({ ...check, message })[0]!, '✔ connection test passed')
  const weak = shown(
    { ...check, message: `${message}. Warning: a real task would refuse it, as content is required` },
    160,
  )
  assert.match(weak[0]!, /! check 5, callback: .* a real task would refuse it, as content is required/)
})

test('without a terminal each entry is one plain line, and nothing is cut', () => {
  const [only, ...more] = shown({ ...refused, responseBody: 'no', responseBytes: 2 } as LogEntry, null)
  assert.equal(more, [])
  assert.is(
    only,
    '12:03:41  …a1b2c3  → task.submitted  500  41 ms  “no” 2 bytes  swift-translator  ' +
      `The agent answered 500; a 2xx is needed. Again in 5 s.  ${nextSteps.testConnection('swift-translator')}`,
  )
})

test('no line is wider than the terminal but for a word that could not be copied otherwise', () => {
  const long = { ...refused, responseBody: 'x'.repeat(200), responseBytes: 200 } as LogEntry
  for (const width of [60, 80, 100, 140]) {
    for (const text of shown(long, width)) assert.ok(text.length <= width || /marketplace /.test(text), text)
  }
})

test('what is said in words wraps at blanks and aligns; a command in it stays whole', () => {
  const message = (text: string) => shown({ type: 'info', message: text }, 60)
  const indent = ' '.repeat(21)
  assert.equal(message('my-agent is not listed: it did not answer. Test it by: marketplace test-connection my-agent'), [
    '12:03:41           · my-agent is not listed: it did not',
    `${indent}answer. Test it by:`,
    `${indent}marketplace test-connection my-agent`,
  ])
  assert.equal(
    message('Has it got its secret? See npx agent-marketplace dev --print-env. It is tested again.').slice(1),
    [`${indent}npx agent-marketplace dev --print-env.`, `${indent}It is tested again.`],
  )
  assert.is(message('Two  blanks stay')[0], '12:03:41           · Two  blanks stay')
  const output = { type: 'output', agent: 'my-agent', stream: 'stderr', line: 'x '.repeat(40).trim() } as const
  for (const width of [50, 51, 60, 80]) {
    const rows = shown(output, width)
    assert.ok(rows.length > 1, 'what an agent prints is nowhere else, so it is not cut')
    for (const row of rows) assert.ok(row.length <= width, row)
  }
  const check = { type: 'check', agentId: AGENT, check: 4, name: 'endpoint', status: 'failed', durationMs: 1 } as const
  const said = shown({ ...check, message: `The endpoint answered 500 and said “${'no '.repeat(20)}”` }, 60).join('')
  assert.match(said.replace(/ +/g, ' '), 'no no no ”')
  assert.is(shown({ type: 'info', message: 'a word '.repeat(50) }, null).length, 1)
})

test('polling of the command line and what another entry says better is not shown; a refused request says why', () => {
  const get = { ...asked, method: 'GET', path: `/api/tasks/${TASK}`, route: '/api/tasks/:id', status: 200 }
  assert.equal(shown({ ...get, own: true }), [])
  assert.match(shown(get)[0]!, '· GET /api/tasks/…a1b2c3')
  const callback = { ...get, method: 'POST', route: '/api/agent/tasks/:id/callback' }
  assert.equal([...shown(callback), ...shown({ ...callback, status: 401 })], [])
  const bad = shown({ ...get, own: true, method: 'POST', status: 400, error: 'title is required' })
  assert.match(bad[0]!, /400 {2}2 ms/)
  assert.is(bad[1]!.trim(), 'title is required')
  const path = `/api/agent/tasks/${TASK}/accept`
  const late = shown({ ...get, method: 'POST', path, route: '/api/agent/tasks/:id/accept', status: 400 })
  assert.match(late.at(-1)!, nextSteps.showTask(TASK, ' --as admin'))
  const told = {
    method: 'POST',
    path,
    route: '/api/agent/tasks/:id/accept',
    status: 400,
    refusal: 'task_out_of_turn',
  } as const
  assert.equal(shown({ ...get, ...told, userId: 'user_1' }), [], 'the callback has a line')
  assert.is.not(shown({ ...get, ...told }).length, 0, 'nobody knows whose it was')
  const unknown = shown({ ...get, method: 'POST', path, route: '/api/agent/tasks/:id/accept', status: 404 })
  assert.match(unknown.at(-1)!, nextSteps.listTasks(' --as builder'), 'a task that nobody has can not be shown')
  assert.equal(shown({ type: 'task', taskId: TASK, trigger: 'accept', from: 'pending', to: 'in_progress' }), [])
})

const sending: LogEntry = { ...sent, type: 'sending' }

test('a callback comes behind the webhook that caused it, though it ends first', () => {
  const printed: string[] = []
  const order = new CausalOrder(({ type }) => void printed.push(type))
  const other = { ...held, taskId: 'task_2' } as LogEntry
  for (const entry of [held, sending, accepted, other, delivered, held]) order.add(stamped(entry))
  assert.equal(printed, ['money', 'money', 'webhook', 'callback', 'money'])
  for (const entry of [sending, accepted]) order.add(stamped(entry))
  assert.is(printed.length, 5)
  order.end()
  assert.is(printed.at(-1), 'callback')
})

test('a webhook without an answer is told after a while, and holds nothing back any more', async () => {
  const printed: string[] = []
  const order = new CausalOrder(({ type }) => void printed.push(type), 20)
  for (const entry of [sending, accepted]) order.add(stamped(entry))
  await until('two lines', () => printed.length >= 2)
  order.add(stamped(delivered))
  assert.equal(printed, ['sending', 'callback', 'webhook'])
  const [line] = shown(sending)
  assert.match(line!, /→ task\.submitted +… {2}no answer yet/)
})

/** What both logs of dev tell of an agent at whose address nobody listens. */
const NOBODY = 'Nothing listens at localhost port 9.'
const failedCheck = {
  type: 'check',
  agentId: AGENT,
  check: 4,
  name: 'endpoint',
  status: 'failed',
  durationMs: 1,
} as const
const finding = { cause: 'down_on_purpose', certainty: 'sure', text: NOBODY } as const
const diagnosis = toRecord(finding, { isDev: true })
const downCheck: LogEntry = { ...failedCheck, message: `No answer to the test webhook: ${NOBODY}`, diagnosis }

/** A log for people, which is open. */
function wordsInto(lines: string[]) {
  const log = entryLog({ ...ui, raw: (text: string) => void lines.push(text) } as Ui, {
    json: false,
    level: 'info',
    names,
  })
  log.open()
  return log
}

test('of an agent that is down on purpose one line says so, and its tests are no failures', () => {
  const lines: string[] = []
  const log = wordsInto(lines)
  for (const entry of [downCheck, downCheck]) log.log(stamped(entry))
  assert.equal(lines, ['12:03:41  · a sample that is down on purpose  swift-translator'])
  const webhook = { ...refused, status: null, reason: 'refused', message: NOBODY, diagnosis } as LogEntry
  log.log(stamped(webhook))
  assert.is(lines[1], '12:03:41  …a1b2c3  → task.submitted  refused  41 ms  swift-translator', 'who hires it sees it')
  const away = NOBODY.replace('9', '3000')
  log.log(stamped({ ...failedCheck, message: away }))
  assert.match(lines[2]!, /✖ check 4, endpoint: Nothing listens at localhost port 3000\..*test-connection/)
})

test('a mistake is explained once, until its agent does the same thing rightly; a last attempt has its own command', () => {
  const lines: string[] = []
  const log = wordsInto(lines)
  const WHY = 'The agent answered 500; a 2xx is needed.'
  const explained = (...entries: LogEntry[]) => {
    lines.length = 0
    for (const entry of entries) log.log(stamped(entry))
    return lines.map(line => [line.includes(WHY), line.includes('test-connection'), line.includes('Again in 5 s.')])
  }
  assert.equal(explained(refused, refused), [
    [true, true, true],
    [false, false, true],
  ])
  assert.equal(explained(accepted, refused).at(-1), [false, false, true], 'a callback says nothing of webhooks')
  assert.equal(explained(delivered, refused).at(-1), [true, true, true])
  log.log(stamped({ ...refused, outcome: 'failed', nextAttemptAt: null } as LogEntry))
  assert.match(lines.at(-1)!, /It is not sent again by itself\. {2}.* deliveries show dlv_1/)
  explained(delivered)
  const warned = { type: 'warning', message: WHY } as const
  assert.equal(explained(warned, refused).at(-1), [false, true, true], 'dev itself has said it')
  const other = { ...refused, agentId: AGENT.replace('d4', 'e4') } as LogEntry
  log.log(stamped(delivered))
  assert.equal(explained(other).at(-1), [true, true, true], 'of another agent')
})

test('what an agent prints over and over is shown once, with how often it came; what comes now and then each time', () => {
  const lines: string[] = []
  const log = entryLog({ ...ui, raw: (text: string) => void lines.push(text) } as Ui, { json: false, level: 'info' })
  log.open()
  const output = { type: 'output', agent: 'mine', stream: 'stderr', line: 'bad signature' } as const
  for (const entry of [output, output, output, { ...output, line: 'up' }]) log.log(stamped(entry))
  log.log({ ...stamped({ ...output, line: 'up' }), realAt: NOW + 2_000 })
  for (const entry of [output, output, held]) log.log(stamped(entry))
  assert.equal(
    lines.map(line => line.replace(/^\S+ {2}/, '')),
    [
      '│ mine  bad signature',
      '│ mine  the same, 2 times more',
      '│ mine  up',
      '│ mine  up',
      '│ mine  bad signature',
      '│ mine  the same, 1 times more',
      '…a1b2c3  $ 5.00 …usr_1 available → held',
    ],
  )
})

test('a sentence that is too long for its row leaves room for the name of its agent', () => {
  const message = 'No answer to the test webhook: Nothing listens at localhost port 3000, and nobody says why'
  for (const width of [70, 80, 120]) {
    const [first = '', ...rest] = shown({ ...failedCheck, message }, width)
    assert.match(first, /✖ check 4, endpoint: No answer .* swift-translator$/)
    assert.is(first.length, width)
    assert.match([first.replace(/ +swift-translator$/, ''), ...rest].join(' ').replace(/ +/g, ' '), message)
  }
  assert.not.match(shown({ ...failedCheck, message }, 40)[0]!, 'swift-translator')
})

test('an agent that is not known by name is looked up once, and lines keep their order', async () => {
  const lines: string[] = []
  const listening = { ...ui, raw: (text: string) => void lines.push(text) } as Ui
  let asked = 0
  const findAgent = async () => {
    asked++
    return 'found-by-name'
  }
  const log = entryLog(listening, { json: false, level: 'info', findAgent })
  log.log(stamped({ type: 'info', message: 'First.' }))
  log.open()
  for (const entry of [delivered, held, delivered]) log.log(stamped(entry))
  assert.is(lines.length, 1)
  await until('four lines', () => lines.length >= 4)
  assert.is(asked, 1)
  assert.equal(
    lines.map(line => /found-by-name|\$|First/.exec(line)?.[0]),
    ['First', 'found-by-name', '$', 'found-by-name'],
  )
  const json: string[] = []
  const programs = entryLog({ ...ui, raw: (text: string) => void json.push(text) } as Ui, { json: true, level: 'info' })
  programs.open()
  programs.log(stamped(sending))
  const { at, type } = JSON.parse(json[0]!)
  assert.equal([at, type], [new Date(NOW).toISOString(), 'sending'])
})

test.run()
