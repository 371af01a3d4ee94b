// engines: embedded; process: shared
/** A log that nobody can fill: what repeats is told in numbers, and values are cut. Source: A-49. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sampled } from '../../src/cli/log/sampling.ts'
import { type LogEntry, withShortValues } from '../../src/market/log.ts'
import { until } from '../support/patience.ts'

const request = (status: number, route: string | null = '/api/agents'): LogEntry => ({
  ...{ type: 'request', method: 'GET', path: '/api/agents', route, status, ms: 1, requestId: 'r' },
  ...{ userId: null, address: '127.0.0.1' },
})

test('of a thousand refusals of one kind twenty are told one by one, and the others as a number', async () => {
  const lines: LogEntry[] = []
  const { log, flush } = sampled(line => lines.push(line))
  for (let i = 0; i < 1_000; i++) {
    log(request(429))
    log(request(200))
  }
  log(request(401))
  assert.is(lines.filter(line => line.type === 'request' && line.status === 429).length, 20)
  assert.is(lines.filter(line => line.type === 'request' && line.status === 200).length, 1_000)
  assert.is(lines.filter(line => line.type === 'request' && line.status === 401).length, 1)
  flush()
  assert.equal(lines.at(-1), { type: 'warning', message: '980 more within 10 s: request 429 GET /api/agents' })
  log(request(429))
  assert.is(lines.at(-1)!.type, 'request')
})

test('the number comes by itself when the time is over, and kinds are bounded too', async () => {
  const lines: LogEntry[] = []
  const { log } = sampled(line => lines.push(line), 50)
  for (let i = 0; i < 5_000; i++) log({ type: 'warning', message: `${i} is over the limit` })
  assert.is(lines.length, 520)
  await until('the number', () => lines.length > 520)
  assert.equal(lines.at(-1), { type: 'warning', message: '4480 more within 0.05 s: other kinds' })
})

test('a value of 900 kB is cut to a few hundred characters, and a mail stays whole', () => {
  const lines: LogEntry[] = []
  const log = withShortValues(line => lines.push(line))
  const why = { via: 'signature', status: 400, error: null, taskStatus: null, ms: 1 } as const
  log({ type: 'callback', taskId: 'task_1', agentId: null, action: '\u{1f600}'.repeat(450_000), ...why })
  const text = JSON.stringify(lines[0])
  assert.ok(text.length < 1_000)
  assert.ok((JSON.parse(text) as { action: string }).action.isWellFormed())
  const mail = { to: 'a@b.example', subject: 's', text: 'x'.repeat(3_000) }
  log({ type: 'mail', mailId: 'm', kind: 'k', outcome: 'shown', reason: null, mail })
  assert.equal((lines[1] as { mail: object }).mail, mail)
})

test.run()
