// engines: embedded; process: shared
/** What a run keeps is bounded, whatever an agent does. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { contentOf, type Happening } from '../../src/conform/history/history.ts'
import { Recorder } from '../../src/conform/history/recorder.ts'

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

test('small events are bounded by their number', () => {
  const recorder = new Recorder()
  for (let count = 0; count < 100_100; count++) recorder.add({ kind: 'request', method: 'GET', path: '/', status: 404 })
  assert.is(recorder.history.events.length, 100_000)
  assert.throws(() => recorder.proveGoesOn())
})

test.run()
