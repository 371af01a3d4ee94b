// engines: embedded; process: shared
/** The toolkit for agent authors: verifying webhooks and sending callbacks, against real servers on loopback. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signatureHeaders } from '../../src/api/signature.ts'
import { answer, CallbackError, replyTo, signCallback, verifyWebhook, WebhookError } from '../../src/client/webhooks.ts'
import { inTime } from '../support/patience.ts'
import { callbackSink, makeEvent, NOW, SECRET } from './toolkit.ts'

test('verifyWebhook: gives the event of a signed body, from text or bytes, with any kind of headers', () => {
  const body = JSON.stringify(makeEvent('task.submitted'))
  const headers = signatureHeaders(SECRET, NOW, body)
  const named = (how: (name: string) => string) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [how(name), value]))
  const [lower, upper] = [named(name => name.toLowerCase()), named(name => name.toUpperCase())]
  for (const given of [headers, lower, upper, new Headers(headers)]) {
    for (const raw of [body, Buffer.from(body)]) {
      assert.is(verifyWebhook({ body: raw, headers: given, secret: SECRET, now: NOW }).data.title, 'Éine Aufgabe')
    }
  }
})

test('verifyWebhook: throws with the reason', () => {
  const body = JSON.stringify(makeEvent('task.submitted'))
  const headers = signatureHeaders(SECRET, NOW, body)
  const reason = (change: object) => {
    try {
      verifyWebhook({ body, headers, secret: SECRET, now: NOW, ...change })
      return 'accepted'
    } catch (error) {
      assert.instance(error, WebhookError)
      return (error as WebhookError).reason
    }
  }
  assert.is(reason({}), 'accepted')
  assert.is(reason({ headers: {} }), 'missing')
  assert.is(reason({ body: `${body} ` }), 'mismatch')
  assert.is(reason({ secret: 'whsec_other' }), 'mismatch')
  assert.is(reason({ body: JSON.parse(body) }), 'parsed_body')
  assert.is(reason({ now: NOW + 300_001 }), 'stale')
  assert.is(reason({ now: NOW - 300_001 }), 'future')
  assert.is(reason({ secret: ['whsec_other', SECRET] }), 'accepted')
  for (const text of ['', 'null', '[]', '{}', 'not json', '{"event":"x"}', '{"event":1,"data":{"taskId":"t"}}']) {
    assert.is(reason({ body: text, headers: signatureHeaders(SECRET, NOW, text) }), 'malformed_body', text)
  }
})

test('signCallback: the headers sign the very text it returns', () => {
  const { body, headers } = signCallback(SECRET, { action: 'message', content: 'naïve 🦊' }, NOW)
  assert.equal(headers, { 'Content-Type': 'application/json', ...signatureHeaders(SECRET, NOW, body) })
})

test('answer: posts a signed callback that names its task, and returns the data', async () => {
  const sink = await callbackSink()
  const data = await answer(makeEvent('task.submitted', sink.url), SECRET, 'deliver', { content: 'done', notes: 'n' })
  assert.equal(data, { task: { id: 'task_1' } })
  assert.equal(sink.received, [
    { valid: true, body: { content: 'done', notes: 'n', action: 'deliver', taskId: 'task_1' } },
  ])
  sink.close()
})

test('replyTo: what each callback says, with and without what may be left out', async () => {
  const sink = await callbackSink()
  const reply = replyTo(makeEvent('task.submitted', sink.url), SECRET)
  for (const sent of [
    reply.accept(),
    reply.reject(),
    reply.reject('No'),
    reply.deliver('Done'),
    reply.deliver('Done', 'n'),
    reply.message('Hi'),
  ])
    assert.equal(await sent, { task: { id: 'task_1' } })
  const { taskId } = makeEvent('').data
  const bodies = sink.received.map(({ valid, body }) => ({ valid, ...body })).sort(byWords)
  assert.equal(
    bodies,
    [
      { valid: true, action: 'accept', taskId },
      { valid: true, action: 'reject', taskId },
      { valid: true, reason: 'No', action: 'reject', taskId },
      { valid: true, content: 'Done', action: 'deliver', taskId },
      { valid: true, content: 'Done', notes: 'n', action: 'deliver', taskId },
      { valid: true, content: 'Hi', action: 'message', taskId },
    ].sort(byWords),
  )
  sink.close()
})

/** Callbacks at one time arrive in any order. */
const byWords = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)

test('answer: a refusal throws with the status and the sentence of the service', async () => {
  const sink = await callbackSink(400, { success: false, error: 'Not from this state.' })
  const error = await answer(makeEvent('task.submitted', sink.url), SECRET, 'accept', {}).catch(
    (error: CallbackError) => error,
  )
  assert.instance(error, CallbackError)
  const { name, status, message } = error as CallbackError
  assert.equal([name, status, message], ['CallbackError', 400, 'Not from this state.'])
  sink.close()
})

test('answer: what is no answer of the marketplace has its status for a sentence, and no data', async () => {
  const strange = (status: number): Promise<unknown> => {
    const send: typeof fetch = async () => new Response('<h1>A proxy</h1>', { status })
    return answer(makeEvent('task.submitted'), SECRET, 'accept', {}, { fetch: send }).catch(
      ({ message }: Error) => message,
    )
  }
  assert.is(await strange(403), 'The service answered 403.')
  assert.is(await strange(200), undefined)
})

/** A stand-in for the marketplace that answers callbacks one after the other: a status, or with undefined not at all. */
function answering(...answers: (number | undefined | [number, Record<string, string>])[]) {
  const sent: { signature: string; at: number; redirect: string | undefined }[] = []
  const send: typeof fetch = async (_url, init) => {
    const { 'X-Service-Signature': signature = '' } = (init?.headers ?? {}) as Record<string, string>
    sent.push({ signature, at: performance.now(), redirect: init?.redirect })
    const [status, headers] = [answers[sent.length - 1]].flat() as [number | undefined, Record<string, string>?]
    if (status === undefined) throw new TypeError('fetch failed')
    return Response.json({ success: status < 300, data: status }, { status, headers: headers ?? {} })
  }
  return { sent, send }
}

test('answer: what got no answer, or one that may pass, is sent again with the same bytes, and no more often than asked', async () => {
  const { sent, send } = answering(undefined, 503, 200)
  assert.is(await answer(makeEvent('task.submitted'), SECRET, 'accept', {}, { fetch: send }), 200)
  assert.is(sent.length, 3)
  assert.is(new Set(sent.map(({ signature }) => signature)).size, 1)
  assert.ok(sent[1]!.at - sent[0]!.at >= 195 && sent[2]!.at - sent[1]!.at >= 395)

  const down = answering()
  const given = { fetch: down.send, attempts: 2 }
  const error = await answer(makeEvent('task.submitted'), SECRET, 'accept', {}, given).catch(error => error)
  assert.instance(error, TypeError)
  assert.is(down.sent.length, 2)
})

test('answer: a refusal is not sent again, and no redirect is followed', async () => {
  for (const status of [307, 400, 401, 409]) {
    const { sent, send } = answering(status, 200)
    const error = await answer(makeEvent('task.submitted'), SECRET, 'accept', {}, { fetch: send }).catch(error => error)
    assert.is((error as CallbackError).status, status)
    assert.equal(
      sent.map(({ redirect }) => redirect),
      ['manual'],
    )
  }
})

test('answer: Retry-After is heeded, and one that asks for too long is a refusal', async () => {
  const { sent, send } = answering([429, { 'Retry-After': '1' }], 200)
  await answer(makeEvent('task.submitted'), SECRET, 'accept', {}, { fetch: send })
  assert.ok(sent[1]!.at - sent[0]!.at >= 995)
  const late = answering([429, { 'Retry-After': new Date(Date.now() + 3_600_000).toUTCString() }], 200)
  const error = await answer(makeEvent('task.submitted'), SECRET, 'accept', {}, { fetch: late.send }).catch(e => e)
  assert.is((error as CallbackError).status, 429)
})

test('answer: equal callbacks at one moment have signatures of their own', async () => {
  const { sent, send } = answering(201, 201, 201)
  const thanks = () => answer(makeEvent('task.message'), SECRET, 'message', { content: 'Thanks' }, { fetch: send })
  await Promise.all([thanks(), thanks(), thanks()])
  assert.is(new Set(sent.map(({ signature }) => signature)).size, 3)
})

test('answer: after its signal has aborted nothing is sent, nor sent again', async () => {
  const given = (send: typeof fetch, stop: AbortController): Promise<unknown> =>
    answer(makeEvent('task.submitted'), SECRET, 'accept', {}, { fetch: send, signal: stop.signal }).catch(
      error => error,
    )
  const isAborted = (error: unknown) => assert.is((error as Error).name, 'AbortError')

  const stop = new AbortController()
  const { sent, send } = answering([503, { 'Retry-After': '250' }])
  const waiting = given(send, stop)
  const silent: typeof fetch = (_url, init) =>
    new Promise((_, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason)))
  const unanswered = given(silent, stop)
  await new Promise(resolve => setTimeout(resolve, 5))
  stop.abort()
  for (const error of await inTime('two rejections', Promise.all([waiting, unanswered]))) isAborted(error)
  isAborted(await given(send, stop))
  assert.is(sent.length, 1)
})

test.run()
