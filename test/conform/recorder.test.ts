// engines: embedded; process: shared
/** What a run keeps is bounded, whatever an agent does. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { contentOf, type Happening, type WebhookEvent } from '../../src/conform/history/history.ts'
import { historyLines } from '../../src/conform/history/history-file.ts'
import { Recorder } from '../../src/conform/history/recorder.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { accepted } from '../../src/conform/marketplaces/webhook-faults.ts'
import { type TapOptions, WebhookTap } from '../../src/conform/marketplaces/webhook-tap.ts'
import { begin, historyOf, played, webhook } from './made-up.ts'

const body = contentOf(Buffer.alloc(256 * 1024, 'x'))
const callback: Happening = {
  ...{
    kind: 'callback',
    label: null,
    taskId: 'task_1',
    action: 'message',
    method: 'POST',
    path: '/x',
    headers: [],
    body,
  },
  ...{ signature: 'valid', answer: null, fault: null, ms: 1 },
}
const end: Happening = { kind: 'end', interrupted: false, ms: 1 }

test('an agent that sends without end fills no memory: the run ends, and says so', async () => {
  const recorder = new Recorder()
  recorder.proveGoesOn()
  for (let count = 0; count < 2_000; count++) recorder.add(callback)
  const kept = recorder.history.of('callback').length
  assert.ok(kept >= 500 && kept <= 520, `${kept}`)
  assert.throws(() => recorder.proveGoesOn(), /more has happened than a run can keep/)
  recorder.add(end)
  assert.is(recorder.history.events.at(-1)!.kind, 'end', 'how it ended is kept all the same')
})

test('a webhook has begun before it left, however long the machine is at something else between its answer and its record', async () => {
  const recorder = new Recorder()
  let left = 0
  const post = async () => {
    left = Date.now()
    return accepted
  }
  const heldUp = async (send: () => Promise<unknown>) => {
    const told = await send()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    return told
  }
  const known = { url: () => 'http://127.0.0.1:1/', listedUrl: 'https://agent/', secret: () => 's', ends: () => 0 }
  const tap = new WebhookTap({
    ...{ ...known, labelOf: () => 'a', busy: { heard() {} }, record: (event: WebhookEvent) => recorder.add(event) },
    ...{ egress: { post, close: async () => {} }, comingUp: { answered: heldUp } },
  } as unknown as TapOptions)
  await tap.post({ url: 'https://agent/', body: '{}', headers: {}, timeoutMs: 1, maxResponseBytes: 1 })
  const [sent] = recorder.history.of('webhook')
  assert.ok(sent!.realAt - sent!.ms <= left, `began ${sent!.realAt - sent!.ms - left} ms after it had left`)
})

test('small events are bounded by their number', () => {
  const recorder = new Recorder()
  for (let count = 0; count < 100_100; count++) recorder.add({ kind: 'request', method: 'GET', path: '/', status: 404 })
  assert.is(recorder.history.events.length, 100_000)
  assert.throws(() => recorder.proveGoesOn())
})

const bearing = (text: string): Happening => ({ ...callback, body: contentOf(Buffer.from(text)), path: `/${text}` })

test('no secret gets into a history, and a check sees all the same that one was sent', () => {
  const recorder = new Recorder(undefined, ['horse battery'])
  const secrets = [`whsec_${'aB3+'.repeat(8)}`, `svc_${'q-_9'.repeat(6)}`, 'horse battery', 'hunter22']
  const said = `${secrets.slice(0, 3).join(' ')} postgres://me:hunter22@db/x Bearer ${'abc.'.repeat(5)}`
  recorder.add(bearing(said))
  const command = `env K=${secrets[0]} node a.js`
  recorder.add(Object.assign({}, begin, { agent: { url: 'http://a:hunter22@localhost/', command } }))
  const kept = historyLines(recorder.history)
  for (const secret of [...secrets, 'abc.abc']) assert.not.match(kept, secret)
  const [event] = recorder.history.of('callback')
  assert.is(event!.body.text!.length, said.length)
  assert.match(event!.body.text!, /^whsec_X{32} svc_X{24} X{13} postgres:\/\/me:X{8}@db\/x Bearer X+$/)
  const safe = checks.filter(({ id }) => id === 'safe.secret')
  const history = historyOf([begin, webhook('first-task', 200), bearing(secrets[0]!), played('first contact')])
  const shown = new Recorder()
  for (const one of history.events) shown.add(one)
  assert.is(judge(safe, shown.history)[0]!.verdict, 'fail')
})

test.run()
