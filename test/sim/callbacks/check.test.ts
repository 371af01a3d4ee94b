// engines: embedded; process: shared
/** Callbacks for tasks of no marketplace: what an agent is told, word by word, and what is said of each. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskState } from '../../../src/api/flow.ts'
import { signatureHeaders } from '../../../src/api/signature.ts'
import { SentTask } from '../../../src/sim/callbacks/check.ts'
import { answerCut, unavailable } from '../../../src/sim/callbacks/faults.ts'
import { listenForCallbacks } from '../../../src/sim/callbacks/listener.ts'
import { createVirtualWorld } from '../../../src/world/virtual.ts'
import { sameAsKept } from '../../support/golden.ts'
import { inTime } from '../../support/patience.ts'
import { inParagraphs, legible } from '../golden/legible.ts'

const SECRET = 'whsec_c2VjcmV0IG9mIGEgdGVzdA=='
const NOW = Date.UTC(2026, 0, 1)
let moment = NOW

/** Signed later than the one before. */
function signed(body: object | string, { secret = SECRET, type = 'application/json', at = ++moment } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = Object.entries(signatureHeaders(secret, at, text)).map(([name, value]) => [name.toLowerCase(), value])
  return { headers: { 'content-type': type, ...Object.fromEntries(headers) }, body: Buffer.from(text) }
}

const accept = { action: 'accept', taskId: 'task_1' }
const deliver = { action: 'deliver', taskId: 'task_1', content: 'Done.' }

const plays: Readonly<Record<string, [state: TaskState, ...callbacks: ReturnType<typeof signed>[]]>> = {
  'a whole life': [
    'pending',
    signed(accept),
    signed({ ...accept, action: 'message', content: 'Soon.' }),
    signed(deliver),
  ],
  'without its id': ['pending', signed({ action: 'reject' })],
  'a field too few': ['in_progress', signed({ ...deliver, content: undefined })],
  'an action that there is not': ['pending', signed({ action: 'agree' }), signed({ action: 7 }), signed({})],
  'what comes too late': [
    'cancelled',
    ...['accept', 'reject', 'deliver', 'message'].map(action => signed({ ...deliver, action })),
  ],
  'no JSON by its name': ['pending', signed(accept, { type: 'text/plain' })],
  'the id of another task': ['pending', signed({ ...accept, taskId: 'task_2' })],
  'a secret that is another': ['pending', signed(accept, { secret: 'whsec_b3RoZXI=' })],
  'a secret without its head': ['pending', signed(accept, { secret: SECRET.slice('whsec_'.length) })],
  'an hour ago': ['pending', signed(accept, { at: NOW - 3_600_000 })],
  'without a signature': ['pending', { headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') }],
}

test('each callback is judged as the marketplace would', () => {
  const told = Object.entries(plays).map(([name, [state, ...callbacks]]) => {
    const task = new SentTask('task_1', state, SECRET)
    const lines = callbacks.map(
      one => `  ${legible(JSON.stringify(task.receive(one, moment)).replace(/\d+ (?=recomputations)/, ''))}`,
    )
    const kept = callbacks.map((_, at) => task.callbacks[at]!.action).join(', ')
    return [`${name}: ${state} becomes ${task.state} by ${kept}`, ...lines].join('\n')
  })
  sameAsKept('test/sim/golden/callbacks.txt', inParagraphs(told))
})

test('the very same request is answered as it was, and counts once; unless its signature was refused', () => {
  const task = new SentTask('task_1', 'pending', SECRET)
  const callback = signed(accept)
  const first = task.receive(callback, moment)
  assert.is(task.receive(callback, moment), first)
  assert.is(task.callbacks.length, 1)
  const wrong = { ...signed(deliver), body: Buffer.from('{}') }
  assert.equal([task.receive(wrong, moment).status, task.receive(wrong, moment).status], [401, 401])
  assert.is(task.callbacks.length, 3)
})

test('who was told nothing may say the same once more, signed anew, and no more', () => {
  const task = new SentTask('task_1', 'pending', SECRET)
  task.forgiveRepeats()
  const say = (body: object) => {
    const { status, fault } = task.receive(signed(body), moment)
    return [status, fault === null]
  }
  assert.equal(
    [say(deliver), say(accept), say(accept), say(accept)],
    [
      [400, false],
      [200, true],
      [400, true],
      [400, false],
    ],
  )
})

test('a callback is heard at its address alone, by POST, and not where it is too long', async () => {
  const world = createVirtualWorld({ startMs: NOW })
  const listener = await listenForCallbacks(world, SECRET)
  const post = async (url: string, body: string, method = 'POST') => {
    const { headers } = signed(body, { at: NOW })
    const sent = fetch(url, { method, headers, ...(method === 'POST' && { body }) })
    return sent.then(
      async answer => [answer.status, answer.headers.get('content-type'), await answer.json()],
      () => 'cut',
    )
  }
  const url = listener.callbackUrl('task_1')
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/api\/agent\/tasks\/task_1\/callback$/)
  const json = 'application/json; charset=utf-8'
  const nothing = [404, json, { success: false, error: 'Nothing is here' }]
  assert.equal(await post(url, JSON.stringify(accept)), nothing)
  const task = listener.expect('task_1', 'pending')
  assert.equal(await post(listener.callbackUrl('task_2'), JSON.stringify(accept)), nothing)
  assert.equal(await post(`${url}/more`, JSON.stringify(accept)), nothing)
  assert.equal(await post(url, '', 'PUT'), nothing)
  assert.is(await post(url, ' '.repeat(1024 * 1024 + 1)), 'cut')
  const heard = listener.next(60_000)
  const accepted = { success: true, data: { task: { id: 'task_1', status: 'in_progress' } } }
  assert.equal(await post(url, JSON.stringify(accept)), [200, json, accepted])
  await inTime('that it is heard', heard)
  await listener.next(1)
  assert.equal(
    task.callbacks.map(({ action }) => action),
    ['accept'],
  )

  for (const [id, fault, answer] of [
    ['task_3', answerCut, 'cut'],
    ['task_4', unavailable(1), 503],
  ] as const) {
    const met = listener.expect(id, 'pending', fault)
    const again = { ...accept, taskId: id }
    const [told] = [await post(listener.callbackUrl(id), JSON.stringify(again))].flat()
    assert.is(told, answer)
    const [status] = (await post(listener.callbackUrl(id), JSON.stringify({ ...again, extra: 1 }))) as [number]
    assert.is(status, fault === answerCut ? 400 : 200)
    assert.ok(met.callbacks.every(({ fault }) => fault === null))
  }
  await listener.close()
})

test.run()
