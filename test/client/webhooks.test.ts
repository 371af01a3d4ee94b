// engines: embedded; process: shared
/** The toolkit for agent authors: verifying webhooks and sending callbacks, against real servers on loopback. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signatureHeaders } from '../../src/api/signature.ts'
import { answer, CallbackError, signCallback, verifyWebhook, WebhookError } from '../../src/client/webhooks.ts'
import { callbackSink, makeEvent, NOW, SECRET } from './toolkit.ts'

test('verifyWebhook: gives the event of a signed body, from text or bytes, with any kind of headers', () => {
  const body = JSON.stringify(makeEvent('task.submitted'))
  const headers = signatureHeaders(SECRET, NOW, body)
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  for (const given of [headers, lower, new Headers(headers)]) {
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

test('answer: a refusal throws with the status and the sentence of the service', async () => {
  const sink = await callbackSink(400, { success: false, error: 'Not from this state.' })
  const error = await answer(makeEvent('task.submitted', sink.url), SECRET, 'accept', {}).catch(
    (error: CallbackError) => error,
  )
  assert.instance(error, CallbackError)
  assert.is((error as CallbackError).status, 400)
  assert.is((error as CallbackError).message, 'Not from this state.')
  sink.close()
})

test.run()
