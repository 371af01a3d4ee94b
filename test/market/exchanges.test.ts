// engines: embedded, postgres at length; process: shared
/** What a simulator records: each webhook and each callback with its response, and the entries of its log. */
import { createHmac } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inWords } from '../../src/api/diagnosis/record.ts'
import { wrongSignatures } from '../../src/api/diagnosis/wrong-signatures.ts'
import { signatureHeaders, verify } from '../../src/api/signature.ts'
import type { Exchange } from '../../src/market/exchange.ts'
import type { CallbackEntry, StampedEntry } from '../../src/market/log.ts'
import { EntryRing, ExchangeRing } from '../../src/market/recording.ts'
import { SentWebhook } from '../../src/market/webhooks/sent-webhook.ts'
import { openMarketplace } from '../../src/open/open.ts'
import { answered } from '../../src/world/virtual.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { exchange as wireExchange } from '../support/wire.ts'

async function open() {
  const exchanges: Exchange[] = []
  const entries: StampedEntry[] = []
  const onExchange = (exchange: Exchange) => void exchanges.push(exchange)
  const log = (entry: StampedEntry) => void entries.push(entry)
  const marketplace = await openTestMarketplace({ onExchange, log })
  const [buyer, builder] = [await marketplace.join('buyer', 100_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const submitted = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.client.submitTask({ id })
    await marketplace.webhooksSent()
    return id
  }
  const callbacks = () => entries.filter((entry): entry is StampedEntry & CallbackEntry => entry.type === 'callback')
  return { marketplace, exchanges, entries, callbacks, buyer, builder, agent, submitted }
}

const headerOf = ({ requestHeaders }: Exchange, wanted: string) =>
  requestHeaders.find(([name]) => name.toLowerCase() === wanted)?.[1]

test('a webhook is recorded with what the agent got and said', async () => {
  const { marketplace, exchanges, entries, agent, submitted } = await open()
  const before = exchanges.length
  agent.sink.answer = () => answered(500, 'no\u0000 idea')
  const taskId = await submitted()
  const [webhook] = exchanges.slice(before)
  const { requestBody, direction, url, status, error, attempt, deliveryId } = webhook!
  assert.equal([direction, url, status, error, attempt], ['webhook', agent.sink.url, 500, null, 1])
  assert.equal([webhook!.taskId, webhook!.agentId], [taskId, agent.id])
  assert.is(webhook!.responseBody.toString(), 'no\u0000 idea')
  const [told] = entries.filter(entry => entry.type === 'webhook').slice(-1)
  assert.equal([told?.responseBody, told?.responseBytes], ['no\u0000 idea', 8], 'so does its line in the log')
  const [timestamp, signature] = [headerOf(webhook!, 'x-service-timestamp'), headerOf(webhook!, 'x-service-signature')]
  const signed = { secret: agent.secret, timestamp, signature, body: requestBody, now: marketplace.world.realNow() }
  assert.ok(verify(signed).ok)
  assert.is(headerOf(webhook!, 'x-service-delivery-id'), deliveryId)
  assert.match(webhook!.sentSecretFingerprint!, /^[0-9a-f]{12}$/)
  await marketplace.close()
})

test('a callback is recorded byte for byte, also one that is refused', async () => {
  const { marketplace, exchanges, callbacks, agent, submitted } = await open()
  const taskId = await submitted()
  const before = exchanges.length
  const path = `/api/agent/tasks/${taskId}/callback`
  const send = async (body: Buffer, secret: string) => {
    const headers = Object.entries(signatureHeaders(secret, marketplace.world.realNow(), body))
    return wireExchange(
      marketplace.url,
      'POST',
      path,
      [['X-ODD', 'Ä'], ['content-type', 'application/json'], ...headers],
      body,
    )
  }
  const odd = Buffer.from(`{ "action" :\t"accept", "note": "\u00e9" }\n`)
  await send(odd, agent.secret)
  await send(Buffer.from([0xff, 0x00]), 'whsec_wrong')
  const [accepted, refused] = exchanges.slice(before)
  assert.equal(accepted!.requestBody, odd)
  assert.ok(accepted!.requestHeaders.some(([name]) => name === 'X-ODD'))
  assert.equal([accepted!.direction, accepted!.status, accepted!.error], ['callback', 200, null])
  assert.is(accepted!.url, marketplace.url + path)
  assert.is(JSON.parse(accepted!.responseBody.toString()).data.task.status, 'in_progress')
  assert.ok(accepted!.responseHeaders.some(([name]) => name === 'x-request-id'))
  assert.equal(refused!.requestBody, Buffer.from([0xff, 0x00]))
  assert.equal([refused!.status, refused!.agentId, refused!.taskId], [401, agent.id, taskId])
  assert.match(refused!.error!, 'does not match')
  const [first, second] = callbacks().slice(-2)
  assert.equal(
    [first!.via, first!.agentId, first!.action, first!.taskStatus, first!.status, first!.error],
    ['signature', agent.id, 'accept', 'in_progress', 200, null],
  )
  assert.equal([second!.status, second!.taskStatus, second!.error], [401, null, refused!.error])
  assert.is(inWords(second!.diagnosis!), JSON.parse(refused!.responseBody.toString()).hint)
  assert.equal([second!.diagnosis!.cause, second!.diagnosis!.evidence.taskId], ['unknown', taskId])
  await marketplace.close()
})

test('the log says by which way an agent answered', async () => {
  const { marketplace, exchanges, callbacks, builder, agent, submitted } = await open()
  const [tested] = callbacks()
  assert.equal([tested!.via, tested!.agentId, tested!.action, tested!.status], ['test', agent.id, 'accept', 200])
  assert.equal(
    exchanges.map(({ direction }) => direction),
    ['callback', 'webhook'],
  )
  assert.ok(exchanges.every(({ taskId }) => taskId === tested!.taskId))
  const taskId = await submitted()
  await builder.client.agentAccept({ id: taskId })
  const { via, agentId, taskStatus } = callbacks().at(-1)!
  assert.equal([via, agentId, taskStatus], ['key', agent.id, 'in_progress'])
  const unknown = { ...signatureHeaders('whsec_x', marketplace.world.realNow(), '{}') }
  await marketplace.visitor.ask('POST', '/api/agent/test/test_none/callback', '{}', 'nobody', unknown)
  assert.equal([callbacks().at(-1)!.agentId, callbacks().at(-1)!.error], [null, 'there is no such test'])
  await marketplace.visitor.ask('POST', `/api/agent/test/${tested!.taskId}/callback`, '{}', 'nobody', unknown)
  const { agentId: known, error } = callbacks().at(-1)!
  assert.is(known, agent.id)
  assert.match(error!, /signature/, 'which test it is about is known, and what is wrong')
  await marketplace.close()
})

test('what an agent calls with an API key is recorded as a signed callback is: byte for byte, with its response, also refused, and without the key', async () => {
  const { marketplace, callbacks, builder, agent, submitted } = await open()
  const { client } = marketplace.admin
  const post = (path: string, body: Buffer, credentials: (readonly [name: string, value: string])[]) =>
    wireExchange(marketplace.url, 'POST', path, [['content-type', 'application/json'], ...credentials], body)
  const odd = (fields: object) => Buffer.from(`${JSON.stringify({ ...fields, note: 'é' }, null, 1)}\n`)
  const tasks = [await submitted(), await submitted()] as const
  const [signed, keyed] = tasks
  const steps = [
    ['accept', {}, 200],
    ['deliver', { content: 'Done.' }, 200],
    ['deliver', { content: '' }, 400],
    ['reject', { reason: 'It is too late for that' }, 400],
  ] as const
  for (const [action, fields] of steps) {
    const whole = odd({ action, ...fields })
    const headers = Object.entries(signatureHeaders(agent.secret, marketplace.world.realNow(), whole))
    await post(`/api/agent/tasks/${signed}/callback`, whole, headers)
    await post(`/api/agent/tasks/${keyed}/${action}`, odd(fields), [['Authorization', `Bearer ${builder.key}`]])
  }
  const recorded = async (taskId: string) => {
    const { items } = await client.listExchanges({ taskId })
    const ids = items.filter(({ direction }) => direction === 'callback').map(({ id }) => id)
    return Promise.all(ids.reverse().map(id => client.getExchange({ id })))
  }
  const [bySignature, byKey] = [await recorded(signed), await recorded(keyed)]
  assert.equal(
    byKey.map(({ status, requestBody, agentId, action }) => [action, requestBody.content, status, agentId]),
    steps.map(([action, fields, status]) => [action, odd(fields).toString(), status, agent.id]),
  )
  // Whatever is not the address, the credentials or the time is the same.
  const alike = (exchange: (typeof byKey)[number]) => {
    const { direction, status, taskId, agentId, action, error, diagnosis, requestBody, responseBody } = exchange
    const responseHeaders = exchange.responseHeaders.map(({ name }) => name)
    const { cause, text, fix } = diagnosis ?? {}
    const shape = { encoding: requestBody.encoding, cut: requestBody.cut, answered: responseBody.cut }
    return {
      direction,
      status,
      agentId,
      action,
      error,
      cause,
      text,
      fix,
      responseHeaders,
      ...shape,
      ofTask: tasks.indexOf(taskId as string) >= 0,
    }
  }
  assert.equal(byKey.map(alike), bySignature.map(alike))
  for (const { responseBody, status } of byKey) assert.is(JSON.parse(responseBody.content).success, status === 200)
  assert.not(JSON.stringify(byKey).includes(builder.key!))
  const logged = (of: string, by: string) =>
    callbacks().flatMap(({ taskId, via, agentId, action, status, error, diagnosis, taskStatus }) => {
      const { cause, text, fix } = diagnosis ?? {}
      return taskId === of && via === by ? [{ agentId, action, status, error, cause, text, fix, taskStatus }] : []
    })
  assert.equal(logged(keyed, 'key'), logged(signed, 'signature'), 'the log says of both the same')
  assert.equal(
    logged(keyed, 'key').map(({ action, status }) => [action, status]),
    steps.map(([action, , status]) => [action, status]),
  )
  await marketplace.close()
})

test('entries are numbered, and have both times', async () => {
  const { marketplace, entries } = await open()
  assert.equal(
    entries.map(({ seq }) => seq),
    entries.map((_, i) => i + 1),
  )
  marketplace.world.advance(marketplace.world.now() + 3_600_000)
  await marketplace.visitor.ask('GET', '/api/agents')
  const { at, realAt } = entries.at(-1)!
  assert.is(at - realAt, 3_600_000)
  await marketplace.close()
})

test('an administrator lists exchanges; everybody sees each whole', async () => {
  const { marketplace, agent, submitted } = await open()
  const { client } = marketplace.admin
  agent.sink.answer = () => answered(503, '<html>down</html>')
  const taskId = await submitted()
  const { items, pagination } = await client.listExchanges({ taskId, failed: 'true' })
  assert.equal([items.length, pagination.total, items[0]!.status], [1, 1, 503])
  assert.equal((await client.listExchanges({ taskId, failed: 'false' })).items, [])
  assert.equal((await client.listExchanges({ agentId: 'agt_none' })).items, [])
  const whole = await client.getExchange({ id: items[0]!.id })
  assert.equal(await (await marketplace.join('reader')).client.getExchange({ id: items[0]!.id }), whole)
  assert.is(JSON.parse(whole.requestBody.content).data.taskId, taskId)
  assert.equal(whole.responseBody, { encoding: 'text', content: '<html>down</html>', bytes: 17, cut: false })
  assert.ok(whole.requestHeaders.some(({ name }) => name === 'X-Service-Signature'))
  assert.not(JSON.stringify(whole).includes(agent.secret))
  const path = `/api/agent/tasks/${taskId}/callback`
  const key = `Bearer ${marketplace.admin.key}`
  await wireExchange(
    marketplace.url,
    'POST',
    path,
    [
      ['Authorization', key],
      ['Cookie', 'session=abcdefghijkl'],
    ],
    Buffer.from([0xff]),
  )
  const [callback] = (await client.listExchanges({ taskId })).items
  const refused = await client.getExchange({ id: callback!.id })
  assert.equal(refused.requestBody, { encoding: 'base64', content: '/w==', bytes: 1, cut: false })
  const values = refused.requestHeaders.filter(({ name }) => /^(?:authorization|cookie)$/i.test(name))
  assert.equal(
    values.map(({ value }) => value),
    [`${key.slice(0, 12)}…`, 'session=abcd…'],
  )
  await marketplace.close()
})

test('a deployment records nothing', async () => {
  const opened = openMarketplace({ mode: 'serve', file: null, onExchange: () => {} })
  const error = await opened.then(
    () => assert.unreachable(),
    error => error,
  )
  assert.match(error.message, 'a deployment records none')
})

/** Makes one whose request body has this many bytes. */
const exchange =
  (bytes = 0) =>
  (id: string): Exchange => ({
    ...{ id, direction: 'callback', method: 'POST', url: '', requestHeaders: [], requestBody: Buffer.alloc(bytes) },
    ...{ status: 200, responseHeaders: [], responseBody: Buffer.alloc(0), requestCut: false, responseCut: false },
    ...{ error: null, realAt: 0, at: 0, ms: 0, taskId: null, agentId: null, deliveryId: null, attempt: null },
    ...{ reason: null, fault: null, refusal: null, signature: null },
    bytes: 1_000 + bytes,
  })

test('the ring keeps the newest, within bounds of number and bytes', () => {
  const few = new ExchangeRing({ exchanges: 3 })
  const ids = [1, 2, 3, 4].map(() => few.add(exchange()).id)
  assert.match(ids[0]!, /^exchange_\d+$/)
  assert.equal(
    few.all().map(({ id }) => id),
    ids.slice(1).reverse(),
  )
  assert.is(few.get(ids[0]!), undefined)
  const small = new ExchangeRing({ bytes: 10_000 })
  for (let i = 0; i < 50; i++) small.add(exchange(2_000))
  assert.is(small.all().length, 3)
  small.add(exchange(20_000))
  assert.equal(small.all(), [], 'one that is larger than all may be is not kept either')
  small.add(exchange())
  assert.is(small.all().length, 1)
})

test('the log keeps the newest entries within its bound, and counts what is within their fields too', () => {
  const ring = new EntryRing({ characters: 10_000 })
  const mail = { to: 'a@example.com', subject: 'Hello', text: 'x'.repeat(3_000) }
  const entry = { type: 'mail', mailId: 'm', kind: 'reset', outcome: 'shown', reason: null, mail } as const
  for (let seq = 1; seq <= 10; seq++) ring.add({ ...entry, seq, at: 0, realAt: 0 })
  const { oldest, last } = ring.feed()
  assert.equal([oldest, last], [8, 10])
})

test('a body over the bound is cut, and says so', () => {
  const ring = new ExchangeRing({ bodyBytes: 10 })
  const [long, short] = [11, 10].map(bytes => ring.get(ring.add(exchange(bytes)).id)!)
  assert.equal([long!.requestBody.length, long!.requestCut], [10, true])
  assert.equal([short!.requestBody.length, short!.requestCut], [10, false])
  assert.is(long!.responseCut, false)
})

test('a webhook that is cut keeps its headers, and by which secret it was signed', () => {
  const post = { url: 'http://a.test/', secret: 'whsec_x', body: '{"long":"body"}', deliveryId: 'd', attempt: 1 }
  const result = { ok: true, status: 200, headers: {}, body: 'fine', durationMs: 3 } as const
  const request = { url: post.url, body: post.body, headers: { a: 'b' }, timeoutMs: 1, maxResponseBytes: 1 }
  const about = { ...post, agentId: 'a', builderId: 'b', taskId: 't' }
  const sent = { realAt: 1, at: 2, post: about, request, result, fault: null }
  const ring = new ExchangeRing({ bodyBytes: 10 })
  const whole = ring.add(id => new SentWebhook({ ...sent, id }))
  const kept = ring.get(whole.id)!
  assert.equal([whole.requestBody.toString(), whole.requestCut], [post.body, false])
  assert.equal([kept.requestBody.toString(), kept.requestCut], [post.body.slice(0, 10), true])
  assert.equal([kept.requestHeaders, kept.responseHeaders], [[['a', 'b']], []])
  assert.equal([kept.responseBody.toString(), kept.responseCut, kept.status, kept.ms], ['fine', false, 200, 3])
  assert.is(kept.sentSecretFingerprint, whole.sentSecretFingerprint)
})

test('a marketplace that is not told which database it has is refused with a sentence', async () => {
  const refused = await openMarketplace({ mode: 'dev' } as never).catch((error: Error) => error)
  assert.match((refused as Error).message, 'openMarketplace needs `file`')
})

test('exchanges are found by event, status, delivery and time, and say what they are about', async () => {
  const { marketplace, agent, builder, submitted } = await open()
  const { client } = marketplace.admin
  agent.sink.answer = () => answered(503, 'down')
  const first = await submitted()
  const since = new Date(marketplace.world.now() + 1).toISOString()
  marketplace.world.advance(marketplace.world.now() + 1_000)
  agent.sink.answer = () => answered(200, 'ok')
  const second = await submitted()
  await builder.client.agentAccept({ id: second })
  const tasksOf = async (query: Parameters<typeof client.listExchanges>[0]) =>
    (await client.listExchanges(query)).items.map(one => `${one.taskId} ${one.event ?? one.action}`)
  assert.equal(await tasksOf({ status: '503', event: 'task.submitted' }), [`${first} task.submitted`])
  assert.equal(await tasksOf({ taskId: second, since }), [`${second} accept`, `${second} task.submitted`])
  assert.equal(await tasksOf({ taskId: first, since }), [])
  const [webhook] = (await client.listExchanges({ taskId: second, event: 'task.submitted' })).items
  assert.equal(await tasksOf({ deliveryId: webhook!.deliveryId! }), [`${second} task.submitted`])
  assert.equal(await tasksOf({ status: 'none' }), [])
  assert.is((await marketplace.admin.ask('GET', '/api/dev/exchanges?status=odd')).status, 400)
  await marketplace.close()
})

test('what was signed wrongly is shown beside what is right, without a secret', async () => {
  const { marketplace, agent, submitted } = await open()
  const { client } = marketplace.admin
  const id = await submitted()
  const body = Buffer.from('{ "action": "accept" }')
  const timestamp = String(marketplace.world.realNow())
  const signature = createHmac('sha256', agent.secret).update(timestamp).update(body).digest('hex')
  const headers: [string, string][] = [
    ['content-type', 'application/json'],
    ['X-Service-Timestamp', timestamp],
    ['X-Service-Signature', signature],
  ]
  await wireExchange(marketplace.url, 'POST', `/api/agent/tasks/${id}/callback`, headers, body)
  const [refused] = (await client.listExchanges({ taskId: id })).items
  const { diagnosis, forms } = await client.diagnoseExchange({ id: refused!.id })
  assert.is(diagnosis?.cause, 'no_dot')
  assert.equal(forms, {
    sent: [
      { text: timestamp, mark: 'same' },
      { text: body.toString(), mark: 'same' },
    ],
    right: [
      { text: timestamp, mark: 'same' },
      { text: '.', mark: 'missing' },
      { text: body.toString(), mark: 'same' },
    ],
  })
  const [webhook] = (await client.listExchanges({ taskId: id, event: 'task.submitted' })).items
  assert.equal(await client.diagnoseExchange({ id: webhook!.id }), { diagnosis: null, forms: null })
  assert.not(JSON.stringify({ diagnosis, forms }).includes(agent.secret.slice(6)))
  // Of a webhook, by the mistake that the agent was found to make.
  agent.sink.answer = () => answered(401, 'invalid signature')
  const other = await submitted()
  const mistake = [...wrongSignatures(Buffer.from('{}'), [{ secret: agent.secret, kind: 'current' }], Date.now())].find(
    wrong => wrong.mistake.cause === 'body_alone',
  )!.mistake
  marketplace.market.recording!.note(agent.id, 'mistake', { ...mistake, text: `It refuses. ${mistake.text}` })
  const [sent] = (await client.listExchanges({ taskId: other })).items
  const beside = (await client.diagnoseExchange({ id: sent!.id })).forms!
  assert.equal(
    beside.right.map(({ mark }) => mark),
    ['missing', 'same'],
  )
  assert.match(beside.right[0]!.text, /^\d{13}\.$/)
  await marketplace.close()
})

test('a fault may wait for one task, be taken back alone, and says when it was met', async () => {
  const { marketplace, submitted } = await open()
  const { client } = marketplace.admin
  const elsewhere = await client.armFault({ name: 'webhook-lost', forTaskId: 'task_elsewhere' })
  const any = await client.armFault({ name: 'webhook-lost' })
  const id = await submitted()
  const { items } = await client.listFaults()
  const of = (wanted: string) => items.find(one => one.id === wanted)!
  assert.equal([of(any.id).taskId, of(any.id).metAt !== null], [id, true])
  assert.equal([of(elsewhere.id).taskId, of(elsewhere.id).metAt], [null, null])
  assert.is((await client.clearFault({ id: elsewhere.id })).id, elsewhere.id)
  assert.is((await marketplace.admin.ask('DELETE', `/api/dev/faults/${elsewhere.id}`)).status, 404)
  assert.equal(
    (await client.listFaults()).items.map(one => one.id),
    [any.id],
  )
  await marketplace.close()
})

test('mails that nobody has sent can be read', async () => {
  const { marketplace, buyer } = await open()
  await marketplace.visitor.client.requestPasswordReset({ email: buyer.email })
  await marketplace.runDue()
  const { client } = marketplace.admin
  await until('it is shown', async () => (await client.listMails()).items.length > 0)
  const [mail] = (await client.listMails()).items
  assert.equal([mail!.to, mail!.kind], [buyer.email, 'password_reset'])
  await marketplace.close()
})

test.run()
