// engines: embedded; process: shared
/** What dev prints of each kind of entry, letter by letter: as one line in a pipe, and in colours on a terminal. `npm run goldens` writes it anew. */
import { test } from 'uvu'
import { type Finding, toRecord } from '../../src/api/diagnosis/record.ts'
import { wholeTable } from '../../src/cli/command-table.ts'
import { commandFinder } from '../../src/cli/log/command-of.ts'
import { entryText } from '../../src/cli/log/entry-columns.ts'
import { entryLine } from '../../src/cli/log/entry-lines.ts'
import { loadColours } from '../../src/cli/output/colours.ts'
import type { Ui } from '../../src/cli/output/ui.ts'
import type { LogEntry, StampedEntry } from '../../src/market/log.ts'
import { printed } from '../conform/golden/renderings.ts'
import { sameAsKept } from '../support/golden.ts'

const GOLDEN = 'test/cli/log-lines.txt'

const NOW = new Date(2026, 0, 1, 12, 3, 41).getTime()
const idOf = (kind: string, end: string) => `${kind}_${end.padStart(32, '0')}`
const [TASK, AGENT, BUYER, DELIVERY] = [
  idOf('task', 'a1b2c3'),
  idOf('agt', 'd4e5f6'),
  idOf('usr', 'abcdef'),
  idOf('dlv', '123456'),
]
const STRANGER = idOf('agt', '999999')
const names = new Map([
  [BUYER, 'buyer'],
  [AGENT, 'swift-translator'],
])
const found = (cause: Finding['cause'], text: string) =>
  toRecord({ cause, certainty: 'sure', text }, { isDev: true, agent: AGENT })
const nobody = found('nobody_listens', 'Nothing listens at localhost port 3000.')
const meant = found('armed_fault', 'The answer was lost.')
const forged = found('other_agents_secret', 'It was signed with the secret of another agent.')

const about = { taskId: TASK, agentId: AGENT }
const sent = { event: 'task.submitted', ...about, deliveryId: DELIVERY, attempt: 1 }
const lost = { type: 'webhook', ...sent, outcome: 'retry', status: null, reason: 'refused', ms: 3 } as const
const again = (ms: number) => ({ nextAttemptAt: new Date(NOW + ms).toISOString() })
const taken = { ...lost, outcome: 'delivered', status: 200, reason: null, ms: 41, nextAttemptAt: null } as const
const answer = { type: 'callback', ...about, action: 'accept', via: 'signature', error: null, ms: 3 } as const
const refused = { ...answer, status: 401, taskStatus: null, error: 'The signature does not match' } as const
const asked = { type: 'request', method: 'POST', requestId: 'r', userId: BUYER, address: '::1', ms: 2.4 } as const
const onTask = (verb: string, status: number) =>
  ({ ...asked, path: `/api/tasks/${TASK}/${verb}`, route: `/api/tasks/:id/${verb}`, status }) as const
const byAgent = (verb: string, status: number) =>
  ({ ...asked, path: `/api/agent/tasks/${TASK}/${verb}`, route: `/api/agent/tasks/:id/${verb}`, status }) as const
const money = { type: 'money', kind: 'hold', amount: 123_450, taskId: TASK } as const
const task = { type: 'task', taskId: TASK } as const
const check = { type: 'check', agentId: AGENT, check: 4, name: 'webhook_url', durationMs: 3 } as const
const callbackCheck = { ...check, check: 5, name: 'callback', status: 'passed' } as const
const mail = { type: 'mail', mailId: 'm', kind: 'reset', reason: null } as const
const signIn = { type: 'sign_in', userId: BUYER, address: '203.0.113.7' } as const

const entries: { readonly [Type in LogEntry['type']]: readonly Extract<LogEntry, { type: Type }>[] } = {
  sending: [
    { type: 'sending', ...sent },
    { type: 'sending', ...sent, attempt: 2 },
  ],
  webhook: [
    taken,
    { ...taken, agentId: STRANGER },
    { ...taken, responseBody: 'ok', responseBytes: 2 },
    { ...taken, responseBody: ' <html>It works', responseBytes: 15 },
    { ...taken, diagnosis: found('work_before_answer', 'It called back before it answered.') },
    { ...lost, message: 'Nothing listens.', ...again(400) },
    { ...lost, attempt: 2, ...again(99_000) },
    { ...lost, status: 500, reason: null, responseBody: 'x'.repeat(30), responseBytes: 1_250, ...again(100_000) },
    { ...lost, diagnosis: nobody, ...again(6_000_000) },
    { ...lost, status: 410, outcome: 'failed', nextAttemptAt: null, responseBody: '\ufffd\n\tgone', responseBytes: 9 },
    { ...lost, outcome: 'failed', nextAttemptAt: null, diagnosis: nobody },
    { ...lost, nextAttemptAt: null, diagnosis: meant },
    { ...lost, agentId: STRANGER, message: 'Nothing listens.', ...again(5_000) },
  ],
  callback: [
    { ...answer, status: 200, taskStatus: 'in_progress' },
    { ...answer, status: 200, taskStatus: null, via: 'test' },
    { ...answer, status: 201, taskStatus: null, via: 'key', action: 'message' },
    refused,
    { ...refused, diagnosis: forged },
    { ...refused, agentId: null, status: 404, error: 'There is no such task' },
    { ...refused, diagnosis: meant },
  ],
  request: [
    { ...onTask('submit', 200), own: true },
    { ...onTask('submit', 200), path: '/api/tasks', route: '/api/tasks' },
    { ...onTask('submit', 200), method: 'GET', own: true },
    { ...onTask('submit', 500), method: 'GET', own: true },
    { ...onTask('submit', 400), error: 'It is submitted', hint: 'It is submitted. Wait for the agent.', own: true },
    { ...onTask('submit', 400), error: 'It is submitted' },
    { ...onTask('submit', 401), error: 'Give a key' },
    { ...onTask('submit', 500) },
    { ...onTask('nothing', 404), route: null, error: 'There is no such path' },
    { ...onTask('submit', 404), path: '/api/x', route: '/api/x', error: 'No command does this' },
    { ...onTask('submit', 400), diagnosis: forged },
    byAgent('accept', 200),
    { ...byAgent('accept', 400), refusal: 'task_out_of_turn' },
    { ...byAgent('accept', 400), refusal: 'task_out_of_turn', userId: null },
    byAgent('accept', 400),
    byAgent('accept', 404),
    byAgent('callback', 401),
    byAgent('callback', 413),
    byAgent('callback', 500),
  ],
  money: [
    { ...money, from: `available:${BUYER}`, to: `held:${BUYER}` },
    { ...money, from: `held:${BUYER}`, to: `clearing:${idOf('usr', '777777')}` },
    { ...money, from: 'world', to: `available:${BUYER}`, taskId: null },
  ],
  task: [
    { ...task, trigger: 'create', from: null, to: 'draft' },
    { ...task, trigger: 'request_revision', from: 'delivered', to: 'in_progress' },
    { ...task, trigger: 'open_dispute', from: 'delivered', to: 'delivered' },
    { ...task, trigger: 'accept', from: 'pending', to: 'in_progress' },
    { ...task, trigger: 'reject', from: 'pending', to: 'cancelled' },
    { ...task, trigger: 'deliver', from: 'in_progress', to: 'delivered' },
  ],
  check: [
    { ...check, status: 'passed', message: 'A webhook URL is saved' },
    { ...check, status: 'skipped', message: 'Skipped, because an earlier check failed' },
    { ...check, status: 'failed', message: 'No webhook URL is saved' },
    { ...check, status: 'failed', message: 'No answer', diagnosis: nobody },
    { ...check, status: 'failed', message: 'The agent answered 401', diagnosis: forged },
    { ...check, status: 'warning', message: 'No callback came' },
    { ...callbackCheck, message: 'A signed callback came' },
    { ...callbackCheck, message: 'A signed callback came. Warning: a real task would refuse it' },
  ],
  mail: [
    { ...mail, outcome: 'sent' },
    { ...mail, outcome: 'failed', reason: 'no such mailbox' },
    { ...mail, outcome: 'shown', mail: { to: 'a@b.example', subject: 'Your code', text: 'It is 12.\n\nNobody asks.' } },
  ],
  sign_in: [
    { ...signIn, outcome: 'signed_in' },
    { ...signIn, outcome: 'unknown_email', userId: null, address: null },
  ],
  cut_off: [
    { type: 'cut_off', reason: 'connections_of_address', address: '203.0.113.7' },
    { type: 'cut_off', reason: 'slow_reader', address: null },
  ],
  start: [
    { type: 'start', version: '1.2.3', url: 'http://127.0.0.1:4000', engine: 'embedded', db: 'market.db', pid: 7 },
  ],
  stop: [{ type: 'stop', reason: 'SIGTERM', ms: 12.4 }],
  migration: [
    { type: 'migration', from: 0, to: 12, applied: [] },
    { type: 'migration', from: 11, to: 12, applied: ['12'] },
  ],
  administrator: [{ type: 'administrator', userId: BUYER, email: 'root@example.com' }],
  output: [{ type: 'output', agent: 'mine', stream: 'stderr', line: 'ready\u001b[31m' }],
  persona: [{ type: 'persona', persona: 'picky', step: 'cancel', ...about, message: 'picky cancels' }],
  fault: [{ type: 'fault', fault: 'answer-lost', on: 'task.submitted', ...about }],
  clock: [{ type: 'clock', now: '2026-01-02T00:00:00.000Z', byMs: 1 }],
  info: [{ type: 'info', message: 'my-agent is back' }],
  warning: [
    { type: 'warning', message: 'my-agent is not listed' },
    { type: 'warning', message: 'Nothing listens.', ...about, diagnosis: nobody },
  ],
  error: [{ type: 'error', message: 'The disk is full', stack: 'Error: at x' }],
}

test('each kind of entry is printed as it was before, in a pipe and on a terminal', async () => {
  await loadColours(true)
  const commandOf = commandFinder(await wholeTable())
  const shown = (entry: StampedEntry, width: number | null) => (ui: Ui) => {
    const line = entryLine(entry, names, commandOf)
    for (const row of line ? entryText(ui, line, entry, names, width) : ['-']) ui.raw(row)
  }
  const parts = Object.entries(entries).map(([type, those]) => {
    const texts = those.map((entry, seq) => {
      const stamped = { seq, at: NOW, realAt: NOW, ...entry } as StampedEntry
      return printed(shown(stamped, null), null) + printed(shown(stamped, 100), 100, true)
    })
    return `# ${type}\n\n${texts.join('\n')}`
  })
  sameAsKept(GOLDEN, parts.join('\n').replaceAll('\u001b[', '␛['))
})

test.run()
