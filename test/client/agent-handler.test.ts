// engines: embedded; process: own
/** The whole agent of the toolkit, against real servers on loopback. */
import type http from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { fixes } from '../../src/api/diagnosis/causes.ts'
import { wrongSignatures } from '../../src/api/diagnosis/wrong-signatures.ts'
import { events } from '../../src/api/events.ts'
import { sign, signatureHeaders } from '../../src/api/signature.ts'
import { type AgentOptions, agentHandler, verifyWebhook, type WebhookEvent } from '../../src/client/webhooks.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/patience.ts'
import { callbackSink, makeEvent, SECRET, send, withAgent } from './toolkit.ts'

test('agentHandler: what each odd request is answered, that none is worked on, and which of them are told', async () => {
  const body = JSON.stringify(makeEvent('task.submitted'))
  const signed = (changed: object = {}, text = body, at = Date.now()) => ({
    method: 'POST',
    body: text,
    headers: { ...signatureHeaders(SECRET, at, text), ...changed },
  })
  const cases: [init: RequestInit, status: number, error: string, told?: string][] = [
    [{}, 405, 'Webhooks come by POST.'],
    [{ method: 'PUT', body }, 405, 'Webhooks come by POST.'],
    [signed({}, 'x'.repeat(1_048_577)), 413, 'The body is too long or broke off.'],
    [signed({}, 'x'.repeat(1_048_576)), 401, 'The body is not a webhook event.', 'malformed_body'],
    [signed({}, '{"event":"task.submitted"}'), 401, 'The body is not a webhook event.', 'malformed_body'],
    [{ method: 'POST', body }, 401, 'X-Service-Signature or X-Service-Timestamp is missing.', 'missing'],
    [
      signed({ 'X-Service-Timestamp': '1767225600' }),
      401,
      'X-Service-Timestamp is not a unix time of 13 digits (ms).',
      'malformed_timestamp',
    ],
    [
      signed({ 'X-Service-Signature': 'A'.repeat(64) }),
      401,
      'X-Service-Signature is not 64 lower-case hex digits.',
      'malformed_signature',
    ],
    [
      signed({ 'X-Service-Signature': 'a'.repeat(64) }),
      401,
      'The signature does not match the body and this secret.',
      'mismatch',
    ],
    [signed({}, body, Date.now() - 310_000), 401, 'The webhook was signed more than 5 minutes ago.', 'stale'],
    [
      signed({}, body, Date.now() + 310_000),
      401,
      'The webhook was signed more than 5 minutes ahead of this clock.',
      'future',
    ],
  ]
  let worked = 0
  const told: string[] = []
  const onRefused: AgentOptions['onRefused'] = ({ reason, name }, { method }) =>
    told.push(`${name} ${method} ${reason}`)
  await withAgent({ onTask: () => void worked++, onRefused }, async url => {
    for (const [init, status, error] of cases) {
      const answered = await fetch(url, init)
      assert.equal([answered.status, await answered.json()], [status, { success: false, error }])
      assert.is(answered.headers.get('content-type'), 'application/json')
    }
    assert.is(worked, 0)
    assert.equal(await send(url, makeEvent('task.submitted')), { status: 200, body: { success: true } })
  })
  assert.equal(
    told,
    cases.flatMap(([, , , reason]) => (reason ? [`WebhookError POST ${reason}`] : [])),
  )
  assert.is(worked, 1)
})

test('agentHandler: each event has a function of its own, and one of tomorrow has none', async () => {
  const called: string[] = []
  const note = (name: string) => (event: WebhookEvent) =>
    void called.push(`${name} ${event.event} ${event.data.taskId}`)
  const agent = {
    onTask: note('onTask'),
    onRevision: note('onRevision'),
    onMessage: note('onMessage'),
    onApproved: note('onApproved'),
    onCancelled: note('onCancelled'),
    onDisputed: note('onDisputed'),
    onDelivered: note('onDelivered'),
    onTest: note('onTest'),
  }
  await withAgent(agent, async url => {
    for (const name of [...Object.keys(events), 'task.of_tomorrow'])
      assert.is((await send(url, makeEvent(name))).status, 200, name)
    await send(url, makeEvent('task.submitted', undefined, { test: true, taskId: 'test_1' }))
    await until('all of them', () => called.length >= 8)
  })
  assert.equal(called, [
    'onTask task.submitted task_1',
    'onCancelled task.cancelled task_1',
    'onRevision task.revision_requested task_1',
    'onApproved task.approved task_1',
    'onDisputed task.disputed task_1',
    'onMessage task.message task_1',
    'onDelivered task.delivered_to_buyer task_1',
    'onTest task.submitted test_1',
  ])
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
    await send(url, { ...event, timestamp: new Date().toISOString() }, { 'X-Service-Delivery-Id': 'dlv_3' })
    assert.is(worked, 2)
  })
})

test('agentHandler: what is delivered again under another id is worked on if the work went wrong before', async () => {
  let worked = 0
  const onTask = () => {
    if (worked++ === 0) throw new Error('no time')
  }
  await withAgent({ onTask, onError() {} }, async url => {
    for (const id of ['dlv_1', 'dlv_1', 'dlv_2', 'dlv_3']) {
      await send(url, makeEvent('task.submitted'), { 'X-Service-Delivery-Id': id })
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  })
  assert.is(worked, 2)
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

test('agentHandler: a failure that nobody listens for is a line on stderr that names its event', async () => {
  const lines: unknown[][] = []
  const { error } = console
  console.error = (...words: unknown[]) => lines.push(words)
  const fault = new Error('no idea')
  try {
    await withAgent({ onTask: () => Promise.reject(fault) }, async url => {
      await send(url, makeEvent('task.submitted'))
      await until('the line', () => lines.length === 1)
    })
  } finally {
    console.error = error
  }
  assert.equal(lines, [['task.submitted for task_1:', fault]])
})

test('agentHandler: a refusal is a line on stderr, with its cause and what helps, looked for once in a while', async () => {
  const lines: string[] = []
  const { error } = console
  console.error = (line: string) => lines.push(line)
  const event = makeEvent('task.submitted')
  const seconds = Math.floor(Date.now() / 1000)
  const inSeconds = {
    'X-Service-Timestamp': String(seconds),
    'X-Service-Signature': sign(SECRET, seconds, JSON.stringify(event)),
  }
  const refusals: [headers: Record<string, string>, line: string][] = [
    [{ 'X-Service-Signature': 'a'.repeat(64) }, `${MISMATCH} ${fixes.unknown}`],
    [inSeconds, `A webhook was refused: X-Service-Timestamp is in seconds. ${fixes.seconds}`],
  ]
  try {
    for (const [headers, line] of refusals) {
      await withAgent({ onTask() {} }, async url => {
        lines.length = 0
        assert.is((await send(url, event, headers)).status, 401)
        await until('the line', () => lines.length === 1)
        assert.match(lines[0]!, line)
        await send(url, event, headers)
        await until('the second line', () => lines.length === 2)
        assert.not.match(lines[1]!, line, 'a flood of forgeries is not looked into')
      })
    }
  } finally {
    console.error = error
  }
})

test('agentHandler: of each way to sign wrongly stderr has the cause and the cure that a marketplace tells', async () => {
  const lines: string[] = []
  const { error } = console
  console.error = (line: string) => lines.push(line)
  const event = makeEvent('task.submitted')
  const all = [
    ...wrongSignatures(Buffer.from(JSON.stringify(event)), [{ secret: SECRET, kind: 'current' }], Date.now()),
  ]
  const firsts = new Map(all.toReversed().map(one => [one.mistake.cause, one]))
  try {
    for (const { headers, mistake } of firsts.values()) {
      await withAgent({ onTask() {} }, async url => {
        lines.length = 0
        assert.is((await send(url, event, headers)).status, 401)
        await until('the line', () => lines.length === 1)
        assert.is(lines[0], `A webhook was refused: ${mistake.text} ${mistake.fix}`)
      })
    }
  } finally {
    console.error = error
  }
  assert.ok(firsts.size > 20, [...firsts.keys()].join())
})

const MISMATCH = 'A webhook was refused: The signature does not match the body and this secret.'

test('a secret that can be none is refused at once, in a sentence without it', () => {
  const make = (secret: unknown) => () => agentHandler({ secret: secret as string, onTask() {} })
  for (const secret of [undefined, null, '', [], [''], [SECRET, undefined]])
    assert.throws(make(secret), /^The webhook secret is missing: give `secret`/)
  assert.throws(make(`${SECRET}\n`), /^The webhook secret has white space in it/)
  for (const secret of [`"${SECRET}"`, SECRET.slice(6)]) {
    assert.throws(make(secret), (error: Error) => {
      assert.match(error.message, 'begins with whsec_')
      return error instanceof TypeError && !error.message.includes(SECRET.slice(6, 20))
    })
  }
  assert.throws(() => verifyWebhook({ body: '', headers: {}, secret: '' }), /secret is missing/)
  make([SECRET, 'whsec_previous'])()
})

test('agentHandler: with several secrets all verify, and the first one signs', async () => {
  const sink = await callbackSink()
  const handler = agentHandler({ secret: [SECRET, 'whsec_previous'], onTask: (_, reply) => reply.accept() })
  const agent = await listen(handler)
  for (const secret of [SECRET, 'whsec_previous']) {
    const body = JSON.stringify(makeEvent('task.submitted', sink.url, { title: secret }))
    const headers = signatureHeaders(secret, Date.now(), body)
    assert.is((await fetch(agent.url, { method: 'POST', body, headers })).status, 200)
  }
  await sink.arrived(2)
  assert.ok(sink.received.every(({ valid }) => valid))
  agent.close()
  sink.close()
})

/** What a framework leaves of a request: it has read the body, and keeps this of it. */
const afterParser =
  (handler: ReturnType<typeof agentHandler>, kept: (body: Buffer) => object) =>
  async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const body = Buffer.concat(await request.toArray())
    return handler(Object.assign(request, kept(body)), response)
  }

test('agentHandler: a body that a parser has taken is named as that, and one that it has kept is used', async () => {
  const refused: string[] = []
  const handler = agentHandler({ secret: SECRET, onTask() {}, onRefused: ({ reason }) => refused.push(reason) })
  const cases: [(body: Buffer) => object, number][] = [
    [body => ({ body: JSON.parse(body.toString()) }), 500],
    [() => ({}), 500],
    [body => ({ body }), 200],
    [body => ({ body: JSON.parse(body.toString()), rawBody: body }), 200],
  ]
  for (const [kept, status] of cases) {
    const agent = await listen(afterParser(handler, kept))
    const answered = await send(agent.url, makeEvent('task.submitted'))
    assert.is(answered.status, status)
    if (status === 500) assert.match(answered.body.error ?? '', 'verify before express.json()')
    agent.close()
  }
  assert.equal(refused, ['parsed_body', 'parsed_body'])
})

test.run()
