// engines: embedded; process: shared
/** What went over the wire, on the command line: each flag of `exchanges list` leaves out what it does not ask for. */
import { tmpdir } from 'node:os'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ExchangeRecord } from '../../src/api/exchange-records.ts'
import { answerOf, run } from './program.ts'
import { openSent } from './sent-webhooks.ts'

const MINUTE = 60_000

const trade = openSent(test)
const env = () => ({ MARKETPLACE_URL: trade.marketplace.url, MARKETPLACE_KEY: trade.marketplace.admin.key! })
const here = (...args: string[]) => run(['exchanges', 'list', ...args], tmpdir(), env())
const found = async (...args: string[]) =>
  (await answerOf(['exchanges', 'list', ...args], tmpdir(), env())).data.items as ExchangeRecord[]
const told = (all: readonly ExchangeRecord[]) => all.map(({ event, status, taskId }) => [event, status, taskId])

test('each flag of list leaves out what it does not ask for; several are asked for together', async () => {
  const first = await trade.submitted()
  await trade.marketplace.pass(10 * MINUTE)
  await trade.buyer.client.sendMessage({ id: first, content: 'Hello?' })
  await trade.marketplace.webhooksSent()
  trade.agent.sink.status = 401
  const refused = await trade.submitted()

  const [message, submission, refusal] = [
    ['task.message', 200, first],
    ['task.submitted', 200, first],
    ['task.submitted', 401, refused],
  ]
  assert.equal(told(await found('--event', 'task.submitted', '--agent', 'test-writer', '--limit', '2')), [
    refusal,
    submission,
  ])
  assert.equal(told(await found('--event', 'task.message')), [message])
  assert.equal(told(await found('--status', '401')), [refusal])
  assert.equal(told(await found('--status', 'none')), [])
  assert.equal(told(await found('--task', first)), [message, submission])
  assert.equal(told(await found('--task', first, '--event', 'task.message', '--status', '401')), [])
  assert.equal(told(await found('--failed')), [refusal])
  const [{ deliveryId }] = (await found('--task', first, '--event', 'task.submitted')) as [ExchangeRecord]
  assert.equal(told(await found('--delivery', deliveryId!)), [submission])
  // The connection tests of both agents are as old as the first task.
  assert.equal(told(await found('--since', '5m')), [refusal, message])
  assert.is((await found('--since', '1h')).length, (await found()).length)
  assert.ok((await found('--agent', 'another-agent')).every(({ taskId }) => taskId!.startsWith('test_')))
})

test('what no exchange fits is told with the flags that were given, and what none can fit is refused', async () => {
  const none = await here('--event', 'task.approved', '--since', '1h')
  assert.is(none.code, 0, none.err)
  assert.match(none.err, '--event task.approved')
  assert.match(none.err, '--since 1h')
  for (const [refused, flags, words] of [
    // The marketplace says what there is.
    [1, ['--status', '99'], '--status: must be a status like 401, or none'],
    [1, ['--event', 'task.created'], 'task.submitted'],
    [2, ['--since', 'yesterday'], 'A duration is written like 90s'],
    [2, ['--limit', '0'], '--limit takes a whole number'],
  ] as const) {
    const { code, err, out } = await here(...flags)
    assert.is(code, refused, err)
    assert.match(err, words)
    assert.is(out, '')
  }
})

test.run()
