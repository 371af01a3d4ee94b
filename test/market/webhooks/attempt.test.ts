// engines: embedded; process: shared
/** One attempt at one webhook by itself: what is sent, what follows from each answer, and what is kept of it. Source: A-37. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { retryScheduleMs } from '../../../src/api/limits.ts'
import { seal } from '../../../src/market/sealing.ts'
import type { ClaimedDelivery } from '../../../src/market/webhook-outlet.ts'
import { attemptDelivery, describeStatus } from '../../../src/market/webhooks/attempt.ts'
import { askedWaitMs } from '../../../src/market/webhooks/retry-policy.ts'
import { recordingEgress } from '../../../src/world/virtual.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const HOUR = 3_600_000
const NOW = Date.parse('2026-01-01T00:00:00Z')

test('Retry-After is a number of seconds or a date, above zero and up to ten hours; all else is none', () => {
  const asked: [header: string | undefined, ms: number | null][] = [
    [undefined, null],
    ['', null],
    ['soon', null],
    ['0', null],
    ['-5', null],
    ['1.5', null],
    ['1', 1_000],
    [' 5 ', 5_000],
    ['35999', 10 * HOUR - 1_000],
    ['36000', 10 * HOUR],
    ['36001', 10 * HOUR],
    ['999999999', 10 * HOUR],
    ['1000000000x', null],
    ['Thu, 01 Jan 2026 00:00:00 GMT', null],
    ['Wed, 31 Dec 2025 23:59:59 GMT', null],
    ['Thu, 01 Jan 2026 00:00:01 GMT', 1_000],
    ['Fri, 02 Jan 2026 00:00:00 GMT', 10 * HOUR],
  ]
  for (const [header, ms] of asked) assert.is(askedWaitMs(header, NOW), ms, header)
  assert.is(askedWaitMs(['5', '6'] as never, NOW), null)
})

test('a redirect is told as one', () => {
  assert.is(describeStatus(299), 'answered 299')
  assert.is(describeStatus(300), 'answered 300, and redirects are not followed')
  assert.is(describeStatus(399), 'answered 399, and redirects are not followed')
  assert.is(describeStatus(400), 'answered 400')
})

async function open() {
  const bare = await openBareMarket()
  const egress = recordingEgress()
  const market = { ...bare.market, world: { ...bare.world, egress } }
  const secret = seal(bare.world, market.config, 'agt_1', 'whsec_c2VjcmV0')
  const claimed: ClaimedDelivery = {
    ...{ id: 'dlv_1', agentId: 'agt_1', taskId: 'task_1', event: 'task.submitted', body: '{"a":1}' },
    ...{
      attempts: 2,
      attempt: 3,
      claimedUntil: NOW,
      sender: null,
      builderId: 'usr_1',
      webhookUrl: 'https://a.example/',
      secret,
    },
  }
  return {
    ...bare,
    sent: egress.sent,
    attempt: (more: object = {}) => attemptDelivery(market, { ...claimed, ...more }),
    egress,
  }
}

test('it is signed, numbered, and sent within its time and size, for its builder’s share', async () => {
  const { sent, attempt, close } = await open()
  assert.is((await attempt()).ok, true)
  const [{ headers, ...rest }] = sent as [(typeof sent)[number]]
  assert.equal(rest, {
    url: 'https://a.example/',
    body: '{"a":1}',
    timeoutMs: 30_000,
    maxResponseBytes: 20_000,
    account: 'usr_1',
  })
  const { 'content-type': type, 'X-Service-Delivery-Id': id, 'X-Service-Attempt': number, ...signed } = headers
  assert.equal([type, id, number], ['application/json', 'dlv_1', '3'])
  assert.is(signed['X-Service-Timestamp'], String(NOW))
  assert.equal(
    Object.keys(signed)
      .map(name => name.toLowerCase())
      .filter(name => name !== 'user-agent')
      .sort(),
    ['webhook-id', 'webhook-signature', 'webhook-timestamp', 'x-service-signature', 'x-service-timestamp'],
  )
  await close()
})

test('without an address, a secret, or a secret that opens, nothing is sent, and the log will say why', async () => {
  const { sent, attempt, close } = await open()
  const nowhere = { ok: false, reason: 'bad_url', durationMs: 0 }
  assert.equal(await attempt({ webhookUrl: null }), { ...nowhere, message: 'The agent has no webhook URL' })
  assert.equal(await attempt({ webhookUrl: null, secret: null }), {
    ...nowhere,
    message: 'The agent has no webhook URL',
  })
  assert.equal(await attempt({ secret: null }), { ...nowhere, message: 'The agent has no webhook secret' })
  const other = await attempt({ secret: 'a.b.c.d' })
  assert.equal(other, { ...nowhere, message: 'This webhook secret was sealed under another key' })
  assert.equal(sent, [])
  await close()
})

test('none is sent more often than the schedule has attempts', async () => {
  const { sent, attempt, close } = await open()
  const most = retryScheduleMs.length + 1
  assert.is((await attempt({ attempt: most })).ok, true)
  assert.equal(await attempt({ attempt: most + 1 }), {
    ok: false,
    reason: 'own_fault',
    durationMs: 0,
    message: 'It was sent as often as the schedule allows, and what became of that could not be noted',
  })
  assert.is(sent.length, 1)
  await close()
})

test('a way out that throws is a fault of ours, and no rejection', async () => {
  const { attempt, egress, close } = await open()
  egress.post = async () => {
    throw new Error('no way out')
  }
  assert.equal(await attempt(), { ok: false, reason: 'own_fault', durationMs: 0, message: 'no way out' })
  await close()
})

test.run()
