// engines: embedded; process: shared
/** What an endpoint answers, tests among it, and whether it stays up: on each side of every edge is a history that is made up. */
import { test } from 'uvu'
import type { Happening } from '../../../src/conform/history/history.ts'
import { answered, at, callback, deliver, edge, first, forged, process, quiet, refused, times, told } from '../edge.ts'
import { step, task, webhook } from '../made-up.ts'

const FIRST = 'first-task'
const far = (...triggers: readonly string[]) => [first, ...triggers.map(trigger => step(FIRST, trigger))]
const ODD = 'bytes.spaces'
const sent = [task(ODD), webhook(ODD, 200)]
edge(ODD, 'as far as the first task', {
  pass: [
    sent,
    [...far('accept'), ...sent, step(ODD, 'accept')],
    [...far('accept', 'deliver'), ...sent, step(ODD, 'accept'), step(ODD, 'deliver')],
    [...far('cancel'), ...sent],
    [task(ODD), webhook(ODD, 200, { change: 'x' }), webhook(ODD, 400)],
  ],
  'fail took it, and never accepted nor rejected the task': [
    [...far('accept'), ...sent],
    [...far('reject'), ...sent],
  ],
  'fail accepted the task, and never delivered': [[...far('accept', 'deliver'), ...sent, step(ODD, 'accept')]],
  'fail did not accept it: it was answered 300': [[task(ODD), webhook(ODD, 300)]],
  'fail did not accept it \\(x\\): it was answered 199': [
    [task(ODD), webhook(ODD, 199, { change: 'x' }), webhook(ODD, 200)],
  ],
  'untested the agent rejected the task': [[...far('accept', 'deliver'), ...sent, step(ODD, 'reject')]],
  'inconclusive no webhook was sent': [[task(ODD)]],
  'inconclusive the agent stayed busy': [
    [task(ODD), webhook(ODD, 429)],
    [task(ODD), webhook(ODD, 503)],
  ],
})
edge('sig.valid', 'the first of them', {
  pass: [[webhook('sig.valid', 200), webhook('sig.valid/again', 400)]],
  'fail did not accept it: it was answered 401': [[webhook('sig.valid', 401)]],
})

const EVENTS = ['submitted', 'message', 'revision_requested', 'approved', 'disputed', 'cancelled']
const events = (names: readonly string[]) => names.map(name => told('http.ack', name))
const without = (...names: readonly string[]) => events(EVENTS.filter(name => !names.includes(name)))
edge('http.ack', 'each of six events, but for the revision', {
  pass: [
    without(),
    without('revision_requested'),
    [...without(), webhook('http.ack', 503)],
    [...without(), webhook('http.ack', 400, { change: 'x' })],
  ],
  'untested the agent did not get far enough for task.revision_requested, task.approved to be sent': [
    without('revision_requested', 'approved'),
  ],
  ...Object.fromEntries(
    EVENTS.filter(name => name !== 'revision_requested').map(name => [
      `untested the agent did not get far enough for task.${name} to`,
      [without(name)],
    ]),
  ),
  'fail did not accept it: it was answered 302': [[...without(), webhook('http.ack', 302)]],
})
const took = (name: string, ms: number) => told('http.ack', name, { ms })
edge('http.ack-prompt', 'of each event by itself', {
  'warn took 5001 ms to answer task.message': [[took('message', 5_001), took('submitted', 1), took('approved', 1)]],
})
const WORK = 'http.ack'
const afterWork = (ms: number, workMs: number) => [
  at(10_000 + ms, webhook(WORK, 200, { ms })),
  at(10_001 + workMs, deliver(WORK)),
]
const another = (ms: number) => at(10_000 + ms, webhook(`${WORK}/2`, 200, { ms }))
edge('http.ack-not-after-work', 'two seconds, and most of the time that the work takes, each time', {
  pass: [
    afterWork(2_000, 2_000),
    afterWork(4_000, 5_001),
    [...afterWork(4_000, 4_000), another(1), at(10_002, deliver(`${WORK}/2`))],
    [at(10_001, told(WORK, 'message', { ms: 9_000 })), ...afterWork(1, 1)],
  ],
  'warn answered after 2001 ms, when the work was done': [
    afterWork(2_001, 2_001),
    [...afterWork(2_001, 2_001), another(1)],
  ],
  'warn answered after 4000 ms': [
    afterWork(4_000, 5_000),
    [...afterWork(4_000, 4_000), at(30_000, deliver(WORK, 'b'))],
  ],
  'untested the agent delivered nothing': [[webhook(WORK, 200)], [webhook(WORK, 200), callback(WORK, 'accept')]],
})
const [OURS, THEIRS] = ['http.only-law-headers/interface', 'http.only-law-headers/standard']
const sets = (ours: number, theirs: number) => [task(OURS), webhook(OURS, ours), task(THEIRS), webhook(THEIRS, theirs)]
edge('http.only-law-headers', 'either set', {
  pass$: [sets(200, 401), sets(200, 200)],
  'pass it reads the headers of Standard Webhooks': [sets(401, 200)],
  'fail did not accept it: it was answered 401': [sets(401, 402)],
})
const UNKNOWN = 'http.unknown-event'
const unknown = (status: number) => [task(UNKNOWN), webhook(UNKNOWN, status, { event: 'task.archived' })]
edge(UNKNOWN, 'accepted, and nothing is done', {
  pass: [[...unknown(204), quiet]],
  'warn did not accept it: it was answered 422': [[...unknown(422), quiet]],
  'warn called back with accept': [[...unknown(200), callback(UNKNOWN, 'accept'), quiet]],
  'inconclusive the run ended before the quiet time': [unknown(200)],
})
const BURST = 'http.burst'
edge(BURST, 'as the first', {
  pass: [
    [task(BURST), webhook(BURST, 200)],
    [task(BURST), webhook(BURST, 503), webhook(BURST, 200)],
  ],
  'inconclusive not all of them were sent': [[task(BURST)]],
  'warn lost one: it was answered 500': [[task(BURST), webhook(BURST, 500)]],
})

const test_ = (label: string, status: number) => webhook(label, status, { taskId: `test_${label}` })
const END = 'conn.endpoint-200'
edge('conn.price-zero', 'unless the price is not why', {
  pass: [[test_(END, 500)], [test_(END, 200)], [test_(END, 500), test_('conn.price-zero', 500)]],
  'fail took a test for 500 cents, and not one for 0: it was answered 400': [
    [test_(END, 400), test_('conn.price-zero', 200)],
  ],
  inconclusive: [[webhook(END, 200)]],
})
edge(END, 'no other status', {
  pass: [[test_(END, 200)]],
  'fail answered 202, not 200': [[test_(END, 202)]],
  'fail failed the test: it was answered 302': [[test_(END, 302)]],
})
const ofTest = (signature: string) => callback(END, 'accept', '', { taskId: `test_${END}`, signature })
const ofTask = (signature: string) => callback(FIRST, 'accept', '', { signature })
edge('conn.callback-signature', 'where other callbacks are signed well', {
  pass: [[test_(END, 200), ofTest('valid'), ofTask('wrong')]],
  'fail signed the callback of a test wrongly: of another': [
    [test_(END, 200), ofTest('of another')],
    [test_(END, 200), ofTest('of another'), ofTask('valid')],
    [test_(END, 200), ofTest('of another'), ofTask('key')],
    [test_(END, 200), ofTest('of another'), ofTask('valid'), ofTask('wrong')],
  ],
  'behind after cb.signature failed': [[test_(END, 200), ofTest('of another'), ofTask('wrong')]],
  'untested the agent did not call back': [[test_(END, 200), ofTask('valid')]],
})
const BESIDE = 'conn.test-beside-work'
const TEST = `${BESIDE}/test`
const beside = (status: number, ...more: readonly Happening[]) => [
  task(BESIDE),
  step(BESIDE, 'accept'),
  test_(TEST, status),
  ...more,
]
edge(BESIDE, 'both', {
  pass: [beside(200, step(BESIDE, 'deliver'))],
  'fail failed a test: it was answered 204': [beside(204, step(BESIDE, 'deliver'))],
  'fail did not deliver the task during which it was tested': [beside(200)],
  'untested the agent did not accept the task': [[task(BESIDE), step(BESIDE, 'reject')], []],
  'inconclusive the agent accepted the task when nobody waited': [beside(200).slice(0, 2)],
  'inconclusive the agent stayed busy': [beside(503, step(BESIDE, 'deliver'))],
})
const DAY = 'conn.heartbeat-day'
const round = (visible: boolean): Happening => ({
  kind: 'observation',
  label: DAY,
  value: { visible, hiddenReason: 'three failures' },
})
const rounds = (...all: readonly boolean[]) => [
  test_(END, 200),
  ...all.flatMap(visible => [test_(DAY, 200), round(visible)]),
]
edge(DAY, 'each round of the day', {
  pass: [rounds(true, true)],
  'fail was hidden: three failures': [rounds(true, false), [...rounds(true, false), ofTest('valid')]],
  'fail failed a test: it was answered 500': [[...rounds(true), test_(DAY, 500)]],
  'untested its callbacks were refused for their form': [[...rounds(true, false), ofTest('wrong')]],
  'inconclusive 1 tests in 2 rounds': [[...rounds(true), round(true)]],
  'inconclusive no heartbeat came': [[]],
})
const [NEW, OLD] = ['conn.new-secret/new', 'conn.new-secret/old']
const renewed = (old: number, fresh = 200) => [
  webhook(NEW, fresh),
  task(OLD),
  forged(OLD, old),
  webhook(NEW, 200),
  quiet,
]
edge('conn.new-secret', 'the new one, and not the old', {
  pass: [renewed(401), [...renewed(401), forged(NEW, 401)]],
  'fail took it \\(forged\\): it was answered 200': [renewed(200)],
  'fail did not take the new secret: a webhook signed with it was answered 401': [renewed(401, 401)],
  'inconclusive the agent stayed busy': [[webhook(NEW, 503), ...renewed(401).slice(1, 3), quiet]],
})

const HANG = 'rel.hang-up'
const hung = (status: number, ...more: readonly Happening[]) => [
  task(HANG),
  webhook(HANG, 200),
  webhook(HANG, status, { attempt: 2 }),
  ...more,
  webhook(`${HANG}/next`, 200),
]
edge(HANG, 'heard again, and done once', {
  pass: [hung(200), hung(200, deliver(HANG), deliver(HANG))],
  'fail did not accept it when it came again: it was answered 400': [hung(400)],
  'fail delivered 2 different texts': [hung(200, deliver(HANG), deliver(HANG, 'b', refused))],
  'fail was not there for the next webhook: it was answered 500': [
    [...hung(200).slice(0, 3), webhook(`${HANG}/next`, 500)],
  ],
  'inconclusive the run ended before': [hung(200).slice(0, 3)],
})
const DOWN = 'rel.down-and-up'
edge(DOWN, 'done once', {
  pass: [[task(DOWN), deliver(DOWN), step(DOWN, 'deliver')]],
  'warn delivered 2 different texts': [[task(DOWN), deliver(DOWN), step(DOWN, 'deliver'), deliver(DOWN, 'b', refused)]],
  'warn did not do the work after it was back': [[task(DOWN), webhook(DOWN, 200), step(DOWN, 'accept')]],
  'untested the agent rejected the task': [[task(DOWN), step(DOWN, 'reject')]],
})
edge('rel.not-json', 'of its own task', {
  pass: [
    [
      task('rel.not-json'),
      forged('rel.not-json', 400),
      callback('rel.not-json/next', 'accept'),
      webhook('rel.not-json/next', 200),
    ],
  ],
  'warn was not there for the next webhook: it was answered 500': [
    [task('rel.not-json'), forged('rel.not-json', 400), webhook('rel.not-json/next', 500)],
  ],
})
edge('rel.two-megabytes', 'sent at all', { 'inconclusive it was not sent': [[]] })
edge('rel.restart-time', 'of its last start', {
  'pass it was ready 7 ms after its start': [[process('ready', 9), process('ended'), process('ready', 7)]],
  'untested it was not started anew': [[process('ready', 9), process('killed')]],
})
const memory = (...mebibytes: readonly (number | null)[]) =>
  mebibytes.map((size): Happening => ({ kind: 'observation', label: 'rel.memory', value: size && size * 1_048_576 }))
edge('rel.memory', 'at first and in the end', {
  'pass 50 MiB at first, 61 MiB after the work of the run': [memory(50, 99, 61), memory(50.4, 60.6)],
  'pass 1000 MiB at first, 2000 MiB after': [memory(1_000, 2_000)],
  'untested this system does not tell': [memory(50), memory(null, 50), memory(50, null), []],
})
edge('rel.alive', 'the last of the tests', {
  'fail failed the test at the end of the run: it was answered 500': [
    [test_('rel.alive', 200), test_('rel.alive', 500)],
  ],
})
edge('safe.secret', 'in headers too', {
  'fail sent a secret or a key': [
    [webhook('a', 200, { answer: { ...answered(200), headers: [['X', `svc_${'b'.repeat(16)}`]] } })],
    times(2, () => webhook('a', 200, { answer: answered(200, `whsec_${'+'.repeat(16)}`) })),
  ],
})

test.run()
