// engines: embedded; process: shared
/** Faults that wait in a simulator: which webhook or callback meets which, what is then sent, and what either side is told. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CallbackFaultName, WebhookFaultName } from '../../src/api/faults.ts'
import { answeredAfter, callbackFaults, type FrontAnswer } from '../../src/sim/callbacks/faults.ts'
import { FaultBoard, type Met } from '../../src/sim/fault-board.ts'
import { type Sent, webhookFaultOf } from '../../src/sim/webhooks/faults.ts'
import { answered } from '../../src/world/virtual.ts'
import type { OutgoingResult } from '../../src/world/world.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/patience.ts'

const lost = { ok: false, reason: 'reset', message: 'The connection was reset.', durationMs: 0 }

test('each fault of a webhook: what the agent gets, and what the marketplace learns', async () => {
  const played = async (name: WebhookFaultName) => {
    const sent: [number, Sent?][] = []
    const way = { renew: (_: number, attempt: number) => 10 + attempt, overtaken: async () => {} }
    const send = async (...one: [number, Sent?]) => {
      sent.push(one)
      return answered(200 + sent.length)
    }
    let result: OutgoingResult | undefined
    void webhookFaultOf<number>(name, way)
      .play(0, send)
      .then(learned => (result = learned))
    // Its pauses keep no process alive.
    await until('its end', () => result !== undefined && (name !== 'overtaken' || sent.length > 0))
    return { sent, result }
  }
  const copy = { change: 'copy', genuine: true }
  assert.equal(await played('copy'), { sent: [[0], [0, copy]], result: answered(201) })
  assert.equal(await played('copy-at-once'), { sent: [[0], [0, copy]], result: answered(201) })
  assert.equal(await played('answer-lost'), { sent: [[0]], result: lost })
  assert.equal(await played('webhook-lost'), { sent: [], result: lost })
  assert.equal(await played('overtaken'), { sent: [[11]], result: answered(200) })
})

const words = (error: string) => Buffer.from(JSON.stringify({ success: false, error }))
const json = { 'content-type': 'application/json; charset=utf-8' }
const done: FrontAnswer = { status: 200, headers: { 'x-own': '1' }, body: Buffer.from('done') }

test('each fault of a callback: what reaches the marketplace, and what the agent is told', async () => {
  const play = async ({ play }: (typeof callbackFaults)[CallbackFaultName]) => {
    const passed: string[] = []
    const answer = await play({ body: Buffer.from('{"a":1}') }, async (body = Buffer.from('as it was')) => {
      passed.push(body.toString())
      return done
    })
    return [...passed, answer]
  }
  const told = {
    'response-lost': ['as it was', null],
    'bad-gateway': ['as it was', { status: 502, headers: json, body: words('Bad gateway') }],
    unavailable: [{ status: 503, headers: json, body: words('Not available at this moment') }],
    'too-many': [{ status: 429, headers: { ...json, 'retry-after': '2' }, body: words('Too many requests') }],
    'lost-race': [{ status: 409, headers: json, body: words('Somebody else was faster') }],
    redirect: [{ status: 307, headers: { ...json, location: '/moved' }, body: words('Moved') }],
    'changed-byte': ['{"a":1|', done],
  } satisfies Partial<Record<CallbackFaultName, unknown>>
  for (const [name, wanted] of Object.entries(told))
    assert.equal(await play(callbackFaults[name as CallbackFaultName]), wanted, name)
  let late: unknown
  void play(answeredAfter(1)).then(all => (late = all))
  await until('a late answer', () => late)
  assert.equal(late, ['as it was', done])
})

/** A board with what it has told, and webhooks that it lets through. */
function board() {
  const told: Met[] = []
  let now = 100
  const faults = new FaultBoard(
    met => told.push(met),
    () => 'token',
    () => now++,
  )
  const sent: string[] = []
  const webhook = async (taskId: string, event = 'task.submitted', agentId = 'agt_1') => {
    const send = async (signed: string, fault: string | null): Promise<OutgoingResult> => {
      sent.push(`${signed} ${fault}`)
      return answered(200)
    }
    return faults.webhook({ taskId, agentId, body: JSON.stringify({ event }) }, taskId, {
      send,
      renew: (signed, attempt) => `${signed}/${attempt}`,
    })
  }
  return { faults, told, sent, webhook }
}

const any = { on: null, agentId: null, forTaskId: null }

test('a fault waits for the event, the agent and the task that it is meant for, and is met once', async () => {
  const { faults, told, sent, webhook } = board()
  const first = faults.arm({ name: 'answer-lost', on: 'task.approved', agentId: 'agt_2', forTaskId: 'task_2' })
  assert.equal(first, {
    ...{ id: 'fault_1', name: 'answer-lost', on: 'task.approved', agentId: 'agt_2', forTaskId: 'task_2' },
    ...{ armedAt: 100, taskId: null, metAt: null },
  })
  const others: [string, string, string][] = [
    ['task_2', 'task.submitted', 'agt_2'],
    ['task_2', 'task.approved', 'agt_1'],
    ['task_1', 'task.approved', 'agt_2'],
  ]
  for (const other of others) assert.equal(await webhook(...other), answered(200))
  assert.equal([faults.all(), told], [[first], []])
  assert.equal(await webhook('task_2', 'task.approved', 'agt_2'), { ...lost, fault: 'answer-lost' })
  assert.equal(faults.all(), [{ ...first, taskId: 'task_2', metAt: 101 }])
  assert.equal(told, [{ type: 'fault', fault: 'answer-lost', on: 'task.approved', taskId: 'task_2', agentId: 'agt_2' }])
  await webhook('task_2', 'task.approved', 'agt_2')
  assert.equal(sent, ['task_2 null', 'task_2 null', 'task_1 null', 'task_2 answer-lost', 'task_2 null'])
})

test('a test of a connection meets none, a fault of callbacks waits for no webhook, and one can be taken back alone', async () => {
  const { faults, sent, webhook, told } = board()
  const [one, two] = [faults.arm({ name: 'webhook-lost', ...any }), faults.arm({ name: 'unavailable', ...any })]
  await webhook('test_1')
  assert.equal([faults.all(), sent], [[one, two], ['test_1 null']])
  assert.equal(faults.clear('fault_1'), [one])
  await webhook('task_1')
  assert.equal([faults.all(), faults.clear('fault_1'), told], [[two], [], []])
  assert.equal([faults.clear(), faults.all()], [[two], []])
})

test('one that is overtaken goes out behind the next one to its agent, signed anew', async () => {
  const { faults, sent, webhook } = board()
  faults.arm({ name: 'overtaken', ...any })
  assert.equal(await webhook('task_1'), { ...answered(200), fault: 'overtaken' })
  await webhook('task_2', 'task.submitted', 'agt_2')
  assert.equal(sent, ['task_2 null'])
  await webhook('task_3')
  await until('the one that was overtaken', () => sent.length > 2)
  assert.equal(sent, ['task_2 null', 'task_3 null', 'task_1/1 overtaken'])
})

test('a callback goes through the board and comes as it was sent; whoever serves it learns what it has met', async () => {
  const { faults, told, webhook } = board()
  const served: unknown[] = []
  const { url, close } = await listen(
    faults.around(async (request, response) => {
      const names = request.rawHeaders.filter((_, at) => at % 2 === 0)
      assert.not.ok([...names, ...Object.keys(request.headers)].some(name => /passed/i.test(name)))
      const { 'x-mine': mine, host } = request.headers
      served.push([request.method, request.url, mine, faults.metBy(request.rawHeaders)])
      assert.is(`http://${host}`, url)
      const body = Buffer.concat(await request.toArray())
      response.writeHead(201, { 'x-own': 'yes' }).end(`heard ${body}`)
    }),
  )
  const post = (path: string, body = '{"action":"accept"}') =>
    fetch(url + path, { method: 'POST', headers: { 'x-mine': '7' }, body }).then(
      async answer => [answer.status, answer.headers.get('x-own'), await answer.text()],
      () => 'cut',
    )
  const callback = '/api/agent/tasks/task_1/callback'
  const heard = (body: string) => [201, 'yes', `heard ${body}`]
  assert.equal(await post(callback), heard('{"action":"accept"}'), 'nothing waits')
  await webhook('task_1')
  faults.arm({ name: 'response-lost', on: 'accept', agentId: 'agt_1', forTaskId: null })
  assert.equal(await post('/api/tasks/task_1'), heard('{"action":"accept"}'), 'no callback')
  assert.equal(await post('/api/agent/tasks/task_2/accept'), heard('{"action":"accept"}'), 'whose it is is not known')
  assert.equal(await post('/api/agent/test/test_1/callback'), heard('{"action":"accept"}'))
  for (const body of ['{"action":"deliver"}', '{"action":7}', 'no json'])
    assert.equal(await post(callback, body), heard(body))
  assert.is(told.length, 0)
  assert.is(await post(callback), 'cut')
  faults.arm({ name: 'bad-gateway', ...any })
  assert.equal(await post('/api/agent/tasks/task_1/deliver?x=1'), [
    502,
    null,
    JSON.stringify({ success: false, error: 'Bad gateway' }),
  ])
  const last = served.slice(-2)
  assert.equal(last, [
    ['POST', callback, '7', 'response-lost'],
    ['POST', '/api/agent/tasks/task_1/deliver?x=1', '7', 'bad-gateway'],
  ])
  assert.ok(served.slice(0, -2).every(one => (one as unknown[])[3] === null))
  for (const body of ['{"action":7}', 'no json']) {
    faults.arm({ name: 'lost-race', ...any })
    assert.is((await post(callback, body))[0], 409)
  }
  assert.equal(
    told.map(({ fault, on, taskId, agentId }) => [fault, on, taskId, agentId]),
    [
      ['response-lost', 'accept', 'task_1', 'agt_1'],
      ['bad-gateway', 'deliver', 'task_1', 'agt_1'],
      ['lost-race', '?', 'task_1', 'agt_1'],
      ['lost-race', '?', 'task_1', 'agt_1'],
    ],
  )
  await close()
})

test('whoever writes that header without the word of the board is served as anybody, and goes through it', async () => {
  const { faults } = board()
  const met: unknown[] = []
  const { url, close } = await listen(
    faults.around((request, response) => {
      met.push(faults.metBy(request.rawHeaders))
      response.end(String(request.headers['x-passed-on']))
    }),
  )
  const ask = async (passedOn: string) =>
    (await fetch(`${url}/api/me`, { headers: { 'x-passed-on': passedOn } })).text()
  assert.is(await ask('null copy'), 'null copy')
  faults.arm({ name: 'unavailable', ...any })
  assert.is(await ask('other unavailable'), 'other unavailable')
  assert.equal(met, [null, null])
  await close()
})

test.run()
