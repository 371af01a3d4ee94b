// engines: embedded; process: shared
/** Checks of an agent that is looked at where it is listed: on each side of every edge is a history that is made up. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TestReport } from '../../src/api/records.ts'
import { type Declared, nothingDeclared } from '../../src/conform/agent/declared.ts'
import type { Happening } from '../../src/conform/history/history.ts'
import { outsideChecks, scenesFor } from '../../src/conform/listed-agent/checks.ts'
import { purchasesOf } from '../../src/conform/listed-agent/run.ts'
import { answered, at, first, money, edge as ofAll } from './edge.ts'
import { step, task, webhook } from './made-up.ts'

const edge = (...[id, of, sides]: Parameters<typeof ofAll>) => ofAll(id, of, sides, outsideChecks)

const seen = (label: string, value: unknown): Happening => ({ kind: 'observation', label, value })
type Status = TestReport['checks'][number]['status']
/** Of a connection test that began a second before this moment. */
const report = (endpoint: Status, callback: Status, endedAt = 2_000) => ({
  testedAt: new Date(endedAt).toISOString(),
  checks: [
    { name: 'webhook_url', status: endpoint === 'skipped' ? 'failed' : 'passed', message: 'no URL', durationMs: 400 },
    { name: 'endpoint', status: endpoint, message: 'no 200', durationMs: 500 },
    { name: 'callback', status: callback, message: 'a wrong signature', durationMs: 100 },
  ],
})
const tested = (label: string, ...of: Parameters<typeof report>) => seen(label, report(...of))
const ok = tested('conn.endpoint-200', 'passed', 'passed')
const bad = tested('conn.endpoint-200', 'failed', 'skipped')

edge('conn.endpoint-200', 'what failed first is told', {
  pass: [[ok], [tested('conn.endpoint-200', 'passed', 'failed')]],
  'fail failed the test: “no 200”': [[bad]],
  'fail failed the test: “no URL”': [[tested('conn.endpoint-200', 'skipped', 'skipped')]],
  'inconclusive the check itself failed: no test was made for conn.endpoint-200': [[]],
})
edge('conn.callback-arrives', 'right or wrong', {
  pass: [[ok], [tested('conn.endpoint-200', 'passed', 'failed')]],
  'warn did not call back': [[tested('conn.endpoint-200', 'passed', 'warning')], [bad]],
})
edge('conn.callback-signature', 'a callback that came', {
  pass: [[ok]],
  'fail signed the callback of a test wrongly: “a wrong signature”': [
    [tested('conn.endpoint-200', 'passed', 'failed')],
  ],
  'untested the agent did not call back': [[tested('conn.endpoint-200', 'passed', 'skipped')]],
})
const twice = (one: Status, other: Status, endpoint: Status = 'passed') => [
  tested('conn.endpoint-200', 'passed', one),
  tested('conn.test-twice', endpoint, other),
]
edge('conn.test-twice', 'the second as the first', {
  pass: [twice('passed', 'passed'), twice('passed', 'failed')],
  'warn called back about one test, and not about the next': [twice('passed', 'skipped')],
  'warn failed the test': [twice('passed', 'skipped', 'failed')],
  'untested the agent does not call back about tests': [twice('skipped', 'skipped'), twice('skipped', 'passed')],
})

// The test began at 1,000.
const beside = (deliveredAt: number | null, endpoint: Status = 'passed', ...more: readonly Happening[]) => [
  first,
  seen('conn.test-beside-work', { taskId: 'task of first-task', report: report(endpoint, 'passed') }),
  ...(deliveredAt === null ? [] : [at(deliveredAt, step('first-task', 'deliver'))]),
  ...more,
]
edge('conn.test-beside-work', 'a task that was not delivered when it began', {
  pass: [beside(1_000), beside(5_000)],
  'untested the agent had delivered when the test began': [beside(999)],
  'untested the agent delivered nothing': [beside(null)],
  'untested the agent had not begun': [[first]],
  'fail did not deliver the task during which it was tested': [beside(null, 'passed', task('a'), step('a', 'deliver'))],
  'fail failed the test': [beside(null, 'failed'), beside(5_000, 'failed')],
})

const decided = (ms: number, trigger = 'accept') => [at(0, first), at(ms, step('first-task', trigger))]
edge('life.decides', 'its patience', {
  pass: [decided(1), decided(1, 'reject')],
  'warn decided after 2 ms, and 1 was the limit': [decided(2)],
  'warn did neither accept nor reject': [[first], [first, webhook('first-task', 200)]],
  'untested it did not accept the webhook': [[first, webhook('first-task', 401)]],
})

const asked = [first, step('first-task', 'deliver'), step('first-task', 'request_revision')]
const again = [...asked, step('first-task', 'deliver')]
const hold = (cents: number) => money('first-task', 'hold', cents)
edge('life.revision', 'delivered for the money that was held before', {
  pass: [[...again, hold(500)]],
  'fail did not deliver the revision': [[...asked, hold(500)]],
  'inconclusive the price was not held once': [again, [...again, hold(500), hold(500)], [...again, hold(499)]],
  'untested the agent takes no revisions': [asked.slice(0, 2)],
  'untested the agent did not deliver the task': [[first]],
})
const work = (content: string, ...files: readonly string[]) => ({
  content,
  notes: null,
  files: files.map(id => ({ id })),
})
const kept = (...works: readonly object[]) => seen('deliverables/task of first-task', works)
edge('life.revision-differs', 'words or files', {
  pass: [
    [...again, kept(work('a'), work('b'))],
    [...again, kept(work('a', '1'), work('a', '2'))],
    [...again, kept(work('a')), kept(work('b'))],
  ],
  'warn delivered the same once more': [[...again, kept(work('a', '1'), work('a', '1'))]],
  'untested the agent did not deliver the revision': [[...again, kept(work('a'))], again],
})

const pair = (...decisions: readonly string[]) => [
  first,
  step('first-task', 'deliver'),
  ...['one', 'other'].flatMap((name, index) => [
    task(`dup.not-by-content/${name}`),
    ...(decisions[index] ? [step(`dup.not-by-content/${name}`, decisions[index]!)] : []),
  ]),
]
edge('dup.not-by-content', 'both', {
  pass: [pair('deliver', 'deliver')],
  'fail did not deliver both': [pair('deliver', 'accept'), pair('', 'deliver'), pair()],
  'untested the agent rejected one of them': [pair('deliver', 'reject'), pair('reject', 'deliver')],
  'untested the agent delivered nothing': [[first, ...pair().slice(2)]],
  'inconclusive nothing was sent': [pair().slice(0, 3)],
})

const sampled = (label: string, sample: 'accepts' | 'rejects', end: string): Happening[] => [
  { ...task(label), sample } as Happening,
  step(label, end),
]
edge('life.sample-accepted', 'samples alone, and none that was cancelled', {
  pass: [[...sampled('first-task', 'accepts', 'accept'), ...sampled('life.cancelled', 'accepts', 'cancel')]],
  'fail did not accept a sample that it accepts': [
    sampled('first-task', 'accepts', 'reject'),
    [...sampled('first-task', 'accepts', 'accept'), ...sampled('dup.not-by-content', 'accepts', 'reject')],
  ],
  'untested no sample is declared that it accepts': [sampled('first-task', 'rejects', 'accept'), [first]],
})
edge('life.sample-rejected', 'samples alone', {
  pass: [sampled('life.sample-rejected', 'rejects', 'reject')],
  'fail did not reject a sample that it rejects': [sampled('life.sample-rejected', 'rejects', 'accept')],
  'untested no sample is declared that it rejects': [sampled('first-task', 'accepts', 'reject')],
})
const told = (...messages: readonly object[]) => [
  ...decided(1, 'reject'),
  seen('messages/task of first-task', messages),
]
edge('life.reject-reason', 'a message of the agent', {
  pass: [told({ senderRole: 'buyer', content: 'Hello' }, { senderRole: 'agent', content: 'No.' })],
  'warn rejected without a reason': [told({ senderRole: 'buyer', content: 'Hello' }), told()],
  'untested the agent rejected nothing': [decided(1)],
})

const secret = 'whsec_dGhpcyBpcyBhIHNlY3JldCBvZiBzb21lYm9keQ=='
const shown = (senderRole: string, content: string) => seen('messages/a', [{ senderRole, content }])
edge('safe.secret', 'what it delivers, writes and answers', {
  pass: [[kept(work('a'))], [shown('buyer', secret), shown('agent', 'Done.')], [webhook('a', 200)]],
  'fail sent a secret or a key': [
    [kept(work(secret))],
    [kept({ ...work('a'), notes: secret })],
    [shown('agent', secret)],
    [webhook('a', 200), webhook('a', 500, { answer: answered(500, secret) })],
  ],
  'untested the agent has shown nothing': [[], [shown('buyer', secret)], [webhook('a', null, { error: 'reset' })]],
})
edge('safe.no-stack', 'what it answers', {
  pass: [[webhook('a', 200)]],
  'warn sent a stack trace or paths of its files': [
    [webhook('a', 500, { answer: answered(500, 'Error: no\n    at Server.handle (/app/agent.js:17:8)') })],
  ],
})
edge('cb.files', 'all that it has delivered', {
  'pass it sent 3': [[first, kept(work('a', '1'), work('b', '2', '3'))]],
  'untested the agent has sent no files': [[first, kept(work('a'))], [first]],
})

const RIGHT = 'what was seen is right'
const sent = (event: string, status: number | null) => webhook('a', status, { event: `task.${event}` })
edge('sig.valid', 'any that it takes', {
  pass: [[sent('submitted', 401), sent('message', 200)], [sent('submitted', 299)]],
  'fail did not accept it: it was answered 401': [[sent('submitted', 401)]],
  'untested no webhook was answered': [[], [sent('submitted', 429)]],
})
for (const [id, event] of [
  ['life.approved', 'approved'],
  ['life.cancelled', 'cancelled'],
  ['life.message', 'message'],
] as const)
  edge(id, 'what it refuses for good is seen, and nothing else is', {
    [`fail did not accept task\\.${event}: it was answered 400`]: [[sent(event, 400)]],
    [`untested .*; ${RIGHT}`]: [[sent(event, 200)], [sent('submitted', 400)], [sent(event, 503)], []],
  })
edge('http.ack-200', 'of what it takes', {
  'fail answered 202 to task.message': [[sent('submitted', 200), sent('message', 202)]],
  [`untested nothing is disputed from outside.*; ${RIGHT}`]: [[sent('submitted', 200), sent('message', 400)], []],
})
edge('http.ack', 'each that was sent', {
  fail: [[sent('submitted', 200), sent('message', 400)]],
  [`untested .*; ${RIGHT}`]: [[sent('submitted', 200), sent('message', 204)], []],
})

test('only what a check needs is done and bought', () => {
  const costOf = (ids: RegExp, about: Declared = nothingDeclared) => {
    const scenes = scenesFor(outsideChecks.filter(({ id }) => ids.test(id)))
    return [purchasesOf(scenes, about).count, ...scenes]
  }
  assert.equal(costOf(/^conn\.endpoint-200$/), [0, 'connection test'])
  assert.equal(costOf(/^sig\.wrong-secret$/).slice(0, 1), [0])
  assert.equal(costOf(/^rel\.alive$/), [1, 'connection test', 'connection test after all', 'a whole life'])
  assert.equal(costOf(/^sig\.valid$/), [1, 'delivery log', 'a whole life'])
  assert.equal(costOf(/^http\.ack$/), [2, 'delivery log', 'a whole life', 'a cancellation'])
  assert.equal(costOf(/^life\.cancelled$/), [2, 'delivery log', 'a whole life', 'a cancellation'])
  assert.equal(costOf(/^dup\.not-by-content$/), [2, 'two equal tasks'])
  assert.equal(costOf(/^life\.sample-rejected$/), [0, 'a sample that it rejects'])
  const rejecting = { ...nothingDeclared, rejects: [nothingDeclared.sample] }
  assert.equal(costOf(/^life\.sample-rejected$/, rejecting), [1, 'a sample that it rejects'])
  assert.equal([costOf(/./)[0], costOf(/./, rejecting)[0]], [4, 5])
})

test.run()
