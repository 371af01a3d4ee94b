// engines: embedded, postgres at length; process: own
/** Traces from a request over its transaction to the webhook and back, with the SDK of OpenTelemetry. */
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signatureHeaders } from '../../src/api/signature.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
provider.register()

const GIVEN = { trace: 'a'.repeat(32), span: 'b'.repeat(16) }
const traceparent = `00-${GIVEN.trace}-${GIVEN.span}-01`

const traceOf = (span: ReadableSpan) => span.spanContext().traceId
const named = (name: string, trace?: string) =>
  exporter.getFinishedSpans().filter(span => span.name === name && (!trace || traceOf(span) === trace))

test('one trace leads from the caller over request and transaction to the webhook, and on to the callback', async () => {
  const marketplace = await openTestMarketplace({ tracing: true })
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const task = await marketplace.draft(buyer, agent)
  exporter.reset()
  const reply = await fetch(`${marketplace.url}/api/tasks/${task.id}/submit`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${buyer.key}`,
      'x-api-key': buyer.key!,
      traceparent,
      'x-request-id': 'of-a-proxy-1',
    },
  })
  assert.is(reply.status, 200, await reply.text())
  assert.is(reply.headers.get('x-request-id'), 'of-a-proxy-1')
  await marketplace.webhooksSent()
  const [request] = named('POST /api/tasks/:id/submit', GIVEN.trace)
  assert.ok(
    request,
    exporter
      .getFinishedSpans()
      .map(({ name }) => name)
      .join(', '),
  )
  assert.is(request.parentSpanContext?.spanId, GIVEN.span)
  assert.is(request.attributes['http.response.status_code'], 200)
  assert.is(request.attributes['marketplace.request_id'], 'of-a-proxy-1')
  const [transaction] = named('database write', GIVEN.trace)
  assert.is(transaction!.parentSpanContext?.spanId, request.spanContext().spanId)
  const [webhook] = named('webhook task.submitted', GIVEN.trace)
  assert.is(webhook!.parentSpanContext?.spanId, transaction!.spanContext().spanId)
  assert.is(webhook!.attributes['marketplace.task_id'], task.id)
  const sent = agent.sink.received.at(-1)!.headers.traceparent!
  assert.is(sent, `00-${GIVEN.trace}-${webhook!.spanContext().spanId}-01`)
  const body = JSON.stringify({ action: 'accept' })
  const signed = signatureHeaders(agent.secret, marketplace.world.realNow(), body)
  const accepted = await fetch(`${marketplace.url}/api/agent/tasks/${task.id}/callback`, {
    method: 'POST',
    headers: { ...signed, 'content-type': 'application/json', traceparent: sent },
    body,
  })
  assert.is(accepted.status, 200, await accepted.text())
  const [callback] = named('POST /api/agent/tasks/:id/callback', GIVEN.trace)
  assert.is(callback!.parentSpanContext?.spanId, webhook!.spanContext().spanId)
  assert.is(callback!.attributes['http.response.status_code'], 200)
  const inCallback = named('database write', GIVEN.trace).filter(
    ({ parentSpanContext }) => parentSpanContext?.spanId === callback!.spanContext().spanId,
  )
  assert.is(inCallback.length, 1, 'what it changed is a part of it')
  await marketplace.close()
})

test('of strangers nobody takes a trace or an id; behind a trusted proxy an odd id is replaced', async () => {
  const ask = async (url: string, id: string) => {
    const reply = await fetch(`${url}/api/categories`, { headers: { traceparent, 'x-request-id': id } })
    await reply.arrayBuffer()
    return reply.headers.get('x-request-id')
  }
  const open = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', tracing: true })
  exporter.reset()
  assert.is.not(await ask(open.url, 'of-a-stranger'), 'of-a-stranger')
  assert.is(named('GET /api/categories').length, 1)
  assert.is(named('GET /api/categories', GIVEN.trace).length, 0)
  await open.close()
  const behind = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', tracing: true, trustProxy: 1 })
  assert.is(await ask(behind.url, 'of-the-proxy'), 'of-the-proxy')
  assert.is(named('GET /api/categories', GIVEN.trace).length, 1)
  for (const odd of ['short', 'with spaces in it', 'x'.repeat(129), '"quoted-id"'])
    assert.is.not(await ask(behind.url, odd), odd)
  await behind.close()
})

test('who asks for no traces has none, and no webhook has a header of them', async () => {
  exporter.reset()
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const task = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${task.id}/submit`)
  await marketplace.webhooksSent()
  assert.is(agent.sink.received.at(-1)!.headers.traceparent, undefined)
  assert.equal(exporter.getFinishedSpans(), [])
  await marketplace.close()
})

test.run()
