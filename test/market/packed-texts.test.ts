// engines: embedded, postgres; process: shared
/** Long texts take no more room in the database than they must, and are the same when they come out. Source: A-224. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import type { DeliveryDetails, DeliveryRecord, MessageRecord } from '../../src/api/records.ts'
import { packed, unpacked } from '../../src/store/packed-text.ts'
import { answered } from '../../src/world/virtual.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

/** The longest message, of characters that JSON writes with six. */
const FLOOD = '\u0001\u0002\u0003\u0004\u0005'.repeat(1_000)

test('JSON comes out as it went in, short or long, packed or not', () => {
  const texts = ['', 'z', 'x'.repeat(10_000), FLOOD, 'é😀\ud800'.repeat(2_000), 'a'.repeat(4_093), 'a'.repeat(4_094)]
  for (const text of texts) {
    const json = JSON.stringify(text)
    assert.is(unpacked(packed(json)), json)
    assert.ok(packed(json).length <= json.length)
  }
  assert.is(packed(JSON.stringify('a'.repeat(4_093))).length, 4_095, 'what is usual is kept as it is')
  assert.ok(packed(JSON.stringify(FLOOD)).length < 1_000)
})

test('a message of control characters takes little room as a webhook and as a kept answer; each comes out whole', async () => {
  const marketplace = await openTestMarketplace()
  const { db } = marketplace.market
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.webhooksSent()
  const usage = async () =>
    (await db.read(q => q.get<{ bytes: number }>('SELECT bytes FROM text_usage WHERE user_id = $1', [buyer.id])))!.bytes
  agent.sink.answer = () => answered(500)
  const write = () =>
    buyer.ask<MessageRecord>('POST', `/api/tasks/${id}/messages`, { content: FLOOD }, 'key', { 'idempotency-key': 'k' })
  const first = await write()
  assert.equal([first.status, first.data!.content === FLOOD], [201, true])
  await marketplace.webhooksSent()
  const stored = await db.read(q =>
    q.get<{ body: number; answer: number }>(
      `SELECT (SELECT MAX(OCTET_LENGTH(body)) FROM deliveries) AS body, (SELECT MAX(OCTET_LENGTH(answer)) FROM idempotency_keys) AS answer`,
    ),
  )
  assert.ok(stored!.body < 3_000 && stored!.answer < 3_000, JSON.stringify(stored))

  const again = await write()
  assert.is(again.headers.get('idempotent-replayed'), 'true')
  assert.equal(again.data, first.data)
  // Its second attempt reads it from its row.
  agent.sink.answer = () => answered(200)
  await marketplace.pass(60_000)
  await marketplace.webhooksSent()
  const sent = agent.sink.received.at(-1)! as { data?: { message?: string } }
  assert.is(sent.data?.message, FLOOD)

  const log = `/api/my/agents/${agent.id}/deliveries`
  const { items } = await builder.call<{ items: DeliveryRecord[] }>('GET', log, undefined, 'key')
  const details = await builder.call<DeliveryDetails>('GET', `${log}/${items[0]!.id}`, undefined, 'key')
  assert.is(JSON.parse(details.request.body!).data.message, FLOOD)
  assert.equal([items[0]!.event, details.attempts.length], ['task.message', 2])

  // What its body counted is given back in whole, however little room it took.
  const counted = (await usage()) - 30_000
  await marketplace.pass(31 * durations.dayMs)
  const left = await usage()
  assert.ok(left < counted - 8_000 && left > 0, `${left} of ${counted + 30_000}`)
  await marketplace.close()
})

test.run()
