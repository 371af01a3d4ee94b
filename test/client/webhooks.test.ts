// engines: embedded; process: shared
/** The toolkit for agent authors, against real servers on loopback. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signatureHeaders, verify } from '../../src/api/signature.ts'
import {
  type AgentOptions,
  agentHandler,
  answer,
  CallbackError,
  signCallback,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
} from '../../src/client/webhooks.ts'

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const NOW = 1_767_225_600_000

function makeEvent(kind: string, callbackUrl = 'http://127.0.0.1:9/callback', extra: object = {}): WebhookEvent {
  return {
    event: kind,
    timestamp: new Date(NOW).toISOString(),
    data: {
      taskId: 'task_1',
      agentId: 'agt_1',
      title: 'Éine Aufgabe',
      description: '',
      requirements: '',
      agreedPrice: 500,
      status: 'pending',
      callbackUrl,
      requestor: { id: 'usr_1', type: 'user', trustTier: 'trusted' },
      ...extra,
    },
  } as WebhookEvent
}

async function listen(handler: http.RequestListener) {
  const server = http.createServer(handler)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url, close }
}

/** A stand-in for the service's callback endpoint: keeps what comes, and whether its signature holds. */
async function callbackSink(status = 200, reply: object = { success: true, data: { task: { id: 'task_1' } } }) {
  const received: { body: Record<string, unknown>; valid: boolean }[] = []
  let wake = () => {}
  const server = await listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const timestamp = request.headers['x-service-timestamp']
    const signature = request.headers['x-service-signature']
    const verdict = verify({ secret: SECRET, timestamp, signature, body, now: Date.now() })
    received.push({ body: JSON.parse(body.toString()), valid: verdict.ok })
    response.writeHead(status).end(JSON.stringify(reply))
    wake()
  })
  const arrived = async (count: number) => {
    while (received.length < count) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  return { ...server, received, arrived }
}

async function send(url: string, event: object, headers: Record<string, string> = {}) {
  const body = JSON.stringify(event)
  const reply = await fetch(url, {
    method: 'POST',
    body,
    headers: { ...signatureHeaders(SECRET, Date.now(), body), ...headers },
  })
  return { status: reply.status, body: (await reply.json()) as { success: boolean; error?: string } }
}

async function withAgent(options: Omit<AgentOptions, 'secret'>, work: (url: string) => Promise<void>) {
  const agent = await listen(agentHandler({ secret: SECRET, ...options }))
  try {
    await work(agent.url)
  } finally {
    agent.close()
  }
}

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

test('agentHandler: 401 to a bad signature, and no work', async () => {
  let worked = 0
  await withAgent({ onTask: () => void worked++ }, async url => {
    const answered = await send(url, makeEvent('task.submitted'), { 'X-Service-Signature': 'a'.repeat(64) })
    assert.is(answered.status, 401)
    assert.is(answered.body.success, false)
    assert.is((await fetch(url, { method: 'POST', body: 'x' })).status, 401)
    assert.is((await fetch(url)).status, 405)
    assert.is((await fetch(url, { method: 'POST', body: 'x'.repeat(1_048_577) })).status, 413)
  })
  assert.is(worked, 0)
})

test('agentHandler: 200 at once, then the work with signed answers', async () => {
  const sink = await callbackSink()
  let release = () => {}
  const gate = new Promise<void>(resolve => {
    release = resolve
  })
  const agent: Omit<AgentOptions, 'secret'> = {
    async onTask(task, reply) {
      await gate
      await reply.accept()
      await reply.message('working')
      await reply.deliver(`done: ${task.data.title}`)
    },
    onRevision: (event, reply) => reply.reject(event.data.revisionReason),
  }
  await withAgent(agent, async url => {
    assert.is((await send(url, makeEvent('task.submitted', sink.url))).status, 200)
    assert.is(sink.received.length, 0)
    release()
    await sink.arrived(3)
    await send(url, makeEvent('task.revision_requested', sink.url, { revisionReason: 'more' }))
    await sink.arrived(4)
  })
  assert.ok(sink.received.every(callback => callback.valid))
  assert.equal(
    sink.received.map(callback => callback.body),
    [
      { action: 'accept', taskId: 'task_1' },
      { content: 'working', action: 'message', taskId: 'task_1' },
      { content: 'done: Éine Aufgabe', action: 'deliver', taskId: 'task_1' },
      { reason: 'more', action: 'reject', taskId: 'task_1' },
    ],
  )
  sink.close()
})

test('agentHandler: a delivery that comes again is answered 200 and not worked on', async () => {
  let worked = 0
  await withAgent({ onTask: () => void worked++ }, async url => {
    const event = makeEvent('task.submitted')
    const id = { 'X-Service-Delivery-Id': 'dlv_1' }
    assert.is((await send(url, event, id)).status, 200)
    await new Promise(resolve => setTimeout(resolve, 5))
    assert.is((await send(url, event, id)).status, 200)
    assert.is(worked, 1)
    await send(url, event, { 'X-Service-Delivery-Id': 'dlv_2' })
    assert.is(worked, 2)
  })
})

test('agentHandler: a captured webhook under another delivery id is not worked on again', async () => {
  let worked = 0
  await withAgent({ onTask: () => void worked++ }, async url => {
    const body = JSON.stringify(makeEvent('task.submitted'))
    const headers = signatureHeaders(SECRET, Date.now(), body)
    for (const id of ['dlv_1', 'dlv_2', 'dlv_3']) {
      await fetch(url, { method: 'POST', body, headers: { ...headers, 'X-Service-Delivery-Id': id } })
    }
  })
  assert.is(worked, 1)
})

test('agentHandler: a test webhook is accepted and never reaches the paid work', async () => {
  const sink = await callbackSink()
  let worked = 0
  await withAgent({ onTask: () => void worked++ }, async url => {
    const event = makeEvent('task.submitted', sink.url, { test: true, taskId: 'test_1' })
    await send(url, event)
    await sink.arrived(1)
  })
  assert.equal(sink.received, [{ valid: true, body: { action: 'accept', taskId: 'test_1' } }])
  assert.is(worked, 0)
  sink.close()
})

test('agentHandler: a failure in the work goes to onError, and the agent lives on', async () => {
  const errors: string[] = []
  const agent: Omit<AgentOptions, 'secret'> = {
    onTask() {
      throw new Error('no idea')
    },
    onMessage: () => Promise.reject(new Error('no words')),
    onError: (error, event) => errors.push(`${event.event}: ${(error as Error).message}`),
  }
  await withAgent(agent, async url => {
    assert.is((await send(url, makeEvent('task.submitted'))).status, 200)
    assert.is((await send(url, makeEvent('task.message', undefined, { message: 'hi' }))).status, 200)
    assert.is((await send(url, makeEvent('task.approved'))).status, 200)
    assert.is((await send(url, makeEvent('task.of_tomorrow'))).status, 200)
    await new Promise(resolve => setTimeout(resolve, 5))
  })
  assert.equal(errors, ['task.submitted: no idea', 'task.message: no words'])
})

test.run()
