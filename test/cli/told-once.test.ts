// engines: embedded; process: shared
/** Every way of printing a diagnosis says its cure, and says it once, whatever the cause. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { fixes } from '../../src/api/diagnosis/causes.ts'
import { type About, type DiagnosisRecord, toRecord } from '../../src/api/diagnosis/record.ts'
import { causeNames } from '../../src/api/diagnosis/table.ts'
import { diagnosisHint, diagnosisLines } from '../../src/cli/connection/diagnosis.ts'
import { diagnosed } from '../../src/cli/doctor/finding.ts'
import { type EntryLine, entryLine } from '../../src/cli/log/entry-lines.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { saidTwice } from '../support/said-twice.ts'

const AGENT = `agt_${'a'.repeat(32)}`
const TASK = `task_${'b'.repeat(32)}`
const DELIVERY = 'dlv_1'
const about: readonly About[] = [
  { isDev: true, agent: AGENT, forwarded: 'https://mine.localhost:4443/webhook', baseUrl: 'http://127.0.0.1:4000' },
  { isDev: false, agent: 'mine' },
]

const linesOf = (line: EntryLine | null) => [line?.what, line?.details, ...(line?.below ?? []), line?.help].join('\n')

/** What the log has beside the diagnosis. */
function entries(diagnosis: DiagnosisRecord): readonly LogEntry[] {
  const { text } = diagnosis
  const message = text.replace(/\.$/, '')
  const webhook = {
    type: 'webhook',
    ...{ event: 'task.submitted', taskId: TASK, agentId: AGENT, deliveryId: DELIVERY, attempt: 1 },
    ...{ status: null, reason: 'refused', ms: 5, message: text, diagnosis },
  } as const
  const callback = { type: 'callback', taskId: TASK, agentId: AGENT, action: 'deliver', status: 401 } as const
  const request = { type: 'request', method: 'POST', path: '/api/agent/tasks/x', route: null, status: 404 } as const
  const check = {
    type: 'check',
    agentId: AGENT,
    check: 4,
    name: 'endpoint',
    durationMs: 3,
    message,
    diagnosis,
  } as const
  return [
    { ...webhook, outcome: 'retry', nextAttemptAt: '2026-01-01T00:00:01.000Z' },
    { ...webhook, outcome: 'failed', nextAttemptAt: null },
    { ...callback, via: 'signature', error: message, diagnosis, taskStatus: null, ms: 1 },
    { ...request, ms: 1, requestId: 'r', userId: null, address: '::1', error: message, hint: text, diagnosis },
    { ...check, status: 'failed' },
    { ...check, status: 'warning' },
    { type: 'warning', message: `mine: ${text} ${diagnosis.fix}`, diagnosis, agentId: AGENT, taskId: TASK },
  ]
}

test('the log, errors, tables and the doctor say the cure of each cause, and say it once', () => {
  const names = new Map([[AGENT, 'mine']])
  for (const cause of causeNames) {
    for (const one of about) {
      const evidence = { taskId: TASK, deliveryId: DELIVERY }
      const diagnosis = toRecord({ cause, certainty: 'sure', text: 'It is not as it should be.', evidence }, one)
      const { message, fix } = diagnosed('endpoint', 'failed', diagnosis, '')
      const stamped = entries(diagnosis).map((entry, seq) => ({ seq, at: 0, realAt: 0, ...entry }))
      const ways = [
        ['lines', diagnosisLines(diagnosis).join('\n')],
        ['hint', diagnosisHint(diagnosis)],
        ['doctor', `${message}\n${fix}`],
        ...stamped.map(entry => [entry.type, linesOf(entryLine(entry, names))] as const),
      ] as const
      for (const [way, printed] of ways) {
        // What is wrong with a signature has an entry of its own before that of the check.
        const isTold = way === 'check' && cause in fixes && cause !== 'refused_by_agent'
        assert.is(printed.includes(diagnosis.fix), !isTold, `${cause} by ${way}: ${printed}`)
        assert.equal(saidTwice(printed, diagnosis.fix), [], `${cause} by ${way}: ${printed}`)
      }
    }
  }
})

test('what is said twice is found, in other letters and over a line too', () => {
  const fix = 'Start the agent, and look at host and port in its URL.'
  assert.equal(saidTwice(`Nothing listens: start the agent. ${fix}`, fix), ['start the agent'])
  assert.equal(saidTwice(`And look at host and port in its\nURL. ${fix}`, fix), [
    'and look at host and port in its url',
  ])
  assert.equal(saidTwice(`Nothing listens.\n${fix}`, fix), [])
})

test.run()
