// engines: embedded; process: shared
/** Bounds, alternatives and orders of the checks: on each side of every edge is a history that is made up. */
import { test } from 'uvu'
import { contentOf, type Happening } from '../../src/conform/history/history.ts'
import {
  answered,
  at,
  type Callback,
  callback,
  deliver,
  edge,
  first,
  forged,
  process,
  quiet,
  request,
  text,
  times,
  told,
} from './edge.ts'
import { step, task, webhook } from './made-up.ts'

// What comes of a callback that is sent back to the agent.
const reflected = (...after: readonly Happening[]) => [
  task('sig.reflected'),
  callback('sig.reflected', 'accept'),
  deliver('sig.reflected', 'the work'),
  forged('sig.reflected', 401),
  ...after,
  quiet,
]
edge('sig.reflected', 'what it has said already it may repeat, and nothing else', {
  pass: [reflected(), reflected(deliver('sig.reflected', 'the work')), reflected(callback('sig.reflected', 'accept'))],
  'fail called back with deliver': [reflected(deliver('sig.reflected', 'other work'))],
  'fail called back with message': [reflected(callback('sig.reflected', 'message', 'the work'))],
  'inconclusive the run ended before the quiet time': [reflected().slice(0, -1)],
  'untested the agent signed no callback': [[task('sig.reflected'), quiet]],
})

edge('rel.killed-in-work', 'only a kill after the webhook was answered has lost it', {
  'warn answered 200, was killed': [
    [task('rel.killed-in-work'), told('rel.killed-in-work', 'submitted'), process('killed')],
  ],
  'warn did not do the work after it was back': [
    [task('rel.killed-in-work'), process('killed'), told('rel.killed-in-work', 'submitted')],
    [task('rel.killed-in-work'), told('rel.killed-in-work', 'submitted'), process('ready')],
  ],
  'inconclusive one task.submitted got no answer': [
    [task('rel.killed-in-work'), webhook('rel.killed-in-work', null, { error: 'refused' }), process('killed')],
  ],
  'warn delivered 2 different texts': [
    [
      ...[task('rel.killed-in-work'), told('rel.killed-in-work', 'submitted'), process('killed')],
      ...[
        deliver('rel.killed-in-work', 'a'),
        step('rel.killed-in-work', 'deliver'),
        deliver('rel.killed-in-work', 'b'),
      ],
    ],
  ],
  pass: [[task('rel.killed-in-work'), deliver('rel.killed-in-work'), step('rel.killed-in-work', 'deliver')]],
  'untested the agent rejected': [[task('rel.killed-in-work'), step('rel.killed-in-work', 'reject')]],
})

edge('rel.sigterm', 'ten seconds, and an answer', {
  pass: [
    [webhook('rel.sigterm', 200), process('ended', 10_000)],
    [webhook('rel.sigterm', 503), process('ended', 1)],
    // Of a proxy, which has read it before it passes it on.
    [webhook('rel.sigterm', 502), process('ended', 1)],
    // It may not have begun to read the first.
    [
      webhook('rel.sigterm', null, { error: 'reset' }),
      process('ended', 1),
      webhook('rel.sigterm', 200),
      process('ended', 1),
    ],
  ],
  'warn had not ended': [[webhook('rel.sigterm', 200), process('ended', 10_001)]],
  'warn did not answer': [
    [webhook('rel.sigterm', 500), process('ended', 1)],
    [webhook('rel.sigterm', null, { error: 'reset' }), process('ended', 1)],
    [
      webhook('rel.sigterm', 200),
      process('ended', 1),
      webhook('rel.sigterm', null, { error: 'reset' }),
      process('ended', 1),
    ],
  ],
  'inconclusive the agent was not ended': [
    [process('ended', 1), webhook('rel.sigterm', 200)],
    [webhook('rel.sigterm', 200), process('ready', 1)],
  ],
})

const disputed = (...delivers: readonly Happening[]) => [
  task('order.dispute-in-work'),
  at(0, told('order.dispute-in-work', 'disputed', { body: text({ data: { status: 'in_progress' } }) })),
  ...delivers,
]
const refusedAt = (ms: number) => at(ms, deliver('order.dispute-in-work', 'a', { answer: answered(400) }))
edge('order.dispute-in-work', 'three attempts, within two seconds of the first answer', {
  pass: [disputed(), disputed(refusedAt(10), refusedAt(20), refusedAt(30)), disputed(refusedAt(10), refusedAt(2_011))],
  'fail tried to deliver 4 times': [disputed(...times(4, index => refusedAt(10 + index)))],
  'fail tried to deliver again and again': [disputed(refusedAt(10), refusedAt(2_012))],
  'fail did not accept': [
    [task('order.dispute-in-work'), webhook('order.dispute-in-work', 500, { event: 'task.disputed' })],
  ],
  'untested the agent delivered before': [
    [
      task('order.dispute-in-work'),
      told('order.dispute-in-work', 'disputed', { body: text({ data: { status: 'delivered' } }) }),
    ],
  ],
})

const STACKS = [
  'TypeError: no\n    at work (/app/agent.mjs:17:8)',
  'Error\\n    at file:///app/agent.mjs:1:2',
  'Traceback (most recent call last):',
  'File "/app/agent.py", line 7',
  '{"error":"File \\"/app/agent.py\\", line 7"}',
  'goroutine 1 [running]:',
  'at Agent.work(Agent.java:12)',
  '/app/node_modules/express/lib.js',
]
const NO_STACKS = ['Look at page 3:4:5', 'File a complaint, line 7', 'goroutine 1', 'node_modules', 'Agent.java']
edge('safe.no-stack', 'stacks of Node, Python, Go and Java, in answers and in callbacks', {
  'warn sent a stack trace': [
    ...STACKS.map(stack => [webhook('a', 500, { answer: answered(500, stack) })]),
    ...STACKS.map(stack => [webhook('a', 200), callback('a', 'message', '', { body: text(stack) })]),
  ],
  pass: [
    ...NO_STACKS.map(words => [webhook('a', 500, { answer: answered(500, words) })]),
    [webhook('a', 200, { body: text(STACKS[2]!), answer: answered(200, STACKS[2]!) })],
  ],
  'untested nothing was sent': [[]],
})

const SECRETS = [`whsec_${'a'.repeat(16)}`, `svc_${'b'.repeat(16)}`]
edge('safe.secret', 'a secret or a key, whole', {
  'fail sent a secret or a key': SECRETS.map(secret => [webhook('a', 200, { answer: answered(200, secret) })]),
  pass: [
    ...SECRETS.map(secret => [webhook('a', 200, { answer: answered(200, secret.slice(0, -1)) })]),
    [webhook('a', 200, { body: text(SECRETS[0]!), answer: answered(200, SECRETS[0]!) })],
  ],
})
edge('safe.secret', 'also if its own callback was sent back to it', {
  'fail sent a secret or a key': [
    [callback('a', 'message', SECRETS[0]), forged('a', 401, { body: text({ content: SECRETS[0] }) })],
  ],
})

const calls = (count: number, everyMs: number, one: (index: number) => Happening) =>
  times(count, index => at(1_000 + index * everyMs, one(index)))
edge('cb.no-storm', 'ten of one kind in ten seconds', {
  pass: [
    calls(10, 1, () => callback('a', 'accept')),
    calls(11, 1_000, () => callback('a', 'accept')),
    calls(11, 1, index => callback('a', 'message', `${index}`)),
    calls(20, 1, index => callback('a', index % 2 ? 'accept' : 'deliver')),
    calls(20, 1, index => callback(index % 2 ? 'a' : 'b', 'accept')),
  ],
  'fail sent the same accept 11 times': [calls(11, 999, () => callback('a', 'accept'))],
  'fail sent the same deliver': [calls(11, 1, index => deliver('a', `${index}`))],
  'fail sent the same message': [calls(11, 1, () => callback('a', 'message', 'x'))],
  'untested the agent has not called back': [[]],
})

const fault = (status: number | null) => ({ fault: { name: 'a fault', status } as never, answer: null })
const toldLater = (ms: number) => [
  task('cb.retry-after'),
  at(1_000, deliver('cb.retry-after', 'a', fault(429))),
  at(1_001 + ms, deliver('cb.retry-after')),
]
edge('cb.retry-after', 'two seconds, by timers that are not exact', {
  pass: [toldLater(1_900)],
  'warn tried again after 1899 ms': [toldLater(1_899)],
  'warn did not try again': [
    toldLater(2_000).slice(0, 2),
    [...toldLater(0).slice(0, 2), at(9_000, callback('cb.retry-after', 'message'))],
    [task('cb.retry-after'), deliver('cb.retry-after'), deliver('cb.retry-after', 'a', fault(429))],
  ],
  'untested the agent answered with accept': [[task('cb.retry-after'), callback('cb.retry-after', 'accept')]],
  'untested the agent did not call back': [[task('cb.retry-after')]],
})

for (const [id, status] of [
  ['cb.stops-at-401', 401],
  ['cb.lost-race', 409],
] as const) {
  const repeated = (count: number, lastAt: number) => [
    ...times(count - 1, () => at(1_001, deliver(id, 'a', fault(status)))),
    at(lastAt + 1, deliver(id, 'a', fault(status))),
  ]
  edge(id, 'five times in two seconds', {
    pass: [repeated(5, 1_000), repeated(6, 3_000)],
    'warn repeated it 6 times': [repeated(6, 2_999)],
    'untested the agent was not answered': [[deliver(id, 'a', fault(500))]],
  })
}
edge('cb.stops-at-401', 'keys are no signatures', {
  'untested the agent calls by its key': [
    times(9, () => deliver('cb.stops-at-401', 'a', { ...fault(401), signature: 'key' as never })),
  ],
})

const outOfTurn = (after: number, action = 'accept') => [
  callback('cb.stops-at-400', 'accept'),
  callback('cb.stops-at-400', 'accept', '', { answer: answered(400) }),
  ...times(after, () => callback('cb.stops-at-400', action, '', { answer: answered(400) })),
]
edge('cb.stops-at-400', 'one time more', {
  pass: [outOfTurn(1), outOfTurn(5, 'message')],
  'warn tried 2 times more': [outOfTurn(2)],
  'untested the agent did not call back': [[callback('cb.stops-at-400', 'accept')], []],
})

const clocked = (offset: number, ...again: readonly number[]) => [
  ...[0, ...again].map(later =>
    at(1_767_225_600_001 - offset + later, {
      ...callback('a', 'accept', '', {
        headers: [
          ['x-service-timestamp', '1767225600000'],
          ['x-service-signature', again.length > 0 ? 'one' : `${offset}`],
        ],
      }),
    }),
  ),
]
edge('cb.clock', 'a minute, either way, by the callback that was on its way for the shortest time', {
  pass$: [clocked(0), clocked(2_000), clocked(-2_000), clocked(0, 90_000), [...clocked(0), ...clocked(-90_000)]],
  'pass its clock is 2 seconds ahead': [clocked(2_001)],
  'pass its clock is 60 seconds behind': [clocked(-60_000)],
  'warn has a clock that is 60 seconds ahead': [clocked(60_001)],
  'warn has a clock that is 60 seconds behind': [clocked(-60_001)],
  untested: [[callback('a', 'accept', '', { signature: 'key' as never })]],
})

const headed = (name: string, value: string | null) => [
  callback('a', 'accept', '', { headers: value === null ? [] : [[name, value]] }),
]
edge('cb.time-form', '13 digits', {
  pass: [headed('X-Service-Timestamp', '1767225600000')],
  'fail sent “176722560000” as time': [headed('X-Service-Timestamp', '176722560000')],
  'fail sent': [headed('x-service-timestamp', '17672256000000'), headed('x-service-timestamp', '1767225600000 ')],
  'fail sent nothing as time': [headed('X', null)],
})
edge('cb.digest-form', '64 lower-case hex digits', {
  pass: [headed('X-Service-Signature', 'a'.repeat(64))],
  'fail sent': ['a'.repeat(63), 'a'.repeat(65), 'A'.repeat(64), 'g'.repeat(64)].map(one =>
    headed('X-Service-Signature', one),
  ),
})
const typed = (type: string, body = '{"action":"accept"}') => [
  callback('a', 'accept', '', { headers: [['content-type', type]], body: text(body) }),
]
edge('cb.json', 'its type, and an object', {
  pass: [typed('application/json'), typed('Application/JSON; charset=utf-8')],
  'fail sent “application/jsonl” as content type': [typed('application/jsonl')],
  'fail sent “text/plain': [typed('text/plain, application/json')],
  'fail sent a body that is no JSON object': [
    typed('application/json', '[]'),
    typed('application/json', 'null'),
    typed('application/json', '"x"'),
    typed('application/json', '{'),
  ],
  'fail sent a body that is not UTF-8': [
    [
      callback('a', 'accept', '', {
        headers: [['Content-Type', 'application/json']],
        body: contentOf(Buffer.from([0xff])),
      }),
    ],
  ],
})
const acting = (body: object) => [callback('a', 'accept', '', { body: text(body) })]
edge('cb.action', 'four words', {
  pass: ['accept', 'reject', 'deliver', 'message'].map(action => acting({ action })),
  'fail sent “Accept” as action': [acting({ action: 'Accept' })],
  'fail sent no action': [acting({})],
})
edge('cb.task-id', 'that of the path', {
  pass: [acting({ taskId: 'task of a' })],
  'warn sent no taskId': [acting({})],
  'warn named another task': [acting({ taskId: 'task of b' })],
})
const signedAs = (label: string, signature: string) =>
  callback(label, 'accept', '', { headers: [['X-Service-Signature', signature]] })
edge('cb.unique', 'one task for a signature', {
  pass: [
    [signedAs('a', 'x'), signedAs('a', 'x')],
    [signedAs('a', 'x'), signedAs('b', 'y')],
  ],
  'warn sent callbacks about two tasks': [[signedAs('a', 'x'), signedAs('b', 'x')]],
  untested: [[signedAs('a', 'x')]],
})

const test_ = (label: string, status: number, more: Parameters<typeof webhook>[2] = {}) =>
  webhook(label, status, { taskId: `test_${label}`, event: 'task.submitted', ...more })
const aboutTest = (label: string, action = 'accept', more: Callback = {}) =>
  callback(label, action, '', { taskId: `test_${label}`, ...more })
const arrives = (ms: number) => [
  at(1_000, test_('conn.endpoint-200', 200)),
  at(1_001 + ms, aboutTest('conn.endpoint-200')),
]
edge('conn.callback-arrives', '15 seconds', {
  pass: [arrives(15_000)],
  'warn called back after 15 seconds': [arrives(15_001)],
  'warn did not call back': [arrives(0).slice(0, 1)],
})
edge('conn.test-is-quiet', 'no work and no message for a test', {
  pass: [arrives(0)],
  'warn sent a deliver': [[...arrives(0), aboutTest('conn.endpoint-200', 'deliver')]],
  'warn sent a message': [[...arrives(0), aboutTest('conn.endpoint-200', 'message')]],
})
const tested = (...statuses: readonly number[]) =>
  ['conn.endpoint-200', 'conn.test-twice/1', 'conn.test-twice/2', 'rel.alive'].flatMap((label, index) =>
    statuses[index] === undefined ? [] : [test_(label, statuses[index])],
  )
const heardOf = (...labels: readonly string[]) => labels.map(label => aboutTest(label))
const ALL = ['conn.endpoint-200', 'conn.test-twice/1', 'conn.test-twice/2'] as const
edge('conn.test-twice', 'a callback about each test, the last of all too', {
  pass: [
    [...tested(200, 200, 200), ...heardOf(...ALL)],
    [...tested(200, 200, 200, 200), ...heardOf(...ALL, 'rel.alive')],
  ],
  'warn called back about one test': [
    [...tested(200, 200, 200), ...heardOf('conn.endpoint-200', 'conn.test-twice/1')],
    [...tested(200, 200, 200, 200), ...heardOf(...ALL)],
  ],
  'warn failed a test': [[...tested(200, 200, 204), ...heardOf(...ALL)]],
  'untested the agent does not call back about tests': [tested(200, 200, 200)],
  'inconclusive the agent could not be asked': [
    [
      ...tested(200, 200),
      webhook('conn.test-twice/2', null, { taskId: 'test_x', error: 'refused' }),
      ...heardOf(...ALL),
    ],
  ],
})
edge('rel.alive', 'exactly 200 to the last test', {
  pass: [[test_('rel.alive', 200)], [test_('rel.alive', 500), test_('rel.alive', 200)]],
  'fail failed the test': [[test_('rel.alive', 204)]],
  'inconclusive no test was sent': [[]],
})

const took = (ms: number, more: Parameters<typeof webhook>[2] = {}) => webhook('http.ack', 200, { ms, ...more })
edge('http.ack-prompt', 'five seconds, of the quickest of each event', {
  pass: [
    [took(5_000)],
    [took(9_000), took(10)],
    [took(9_000, { change: 'x' }), took(10)],
    [took(9_000, { genuine: false }), took(10)],
  ],
  'warn took 5001 ms': [[took(5_001)], [took(5_001, { event: 'task.message' }), took(10)]],
  'untested the agent answered nothing': [[webhook('http.ack', null, { ms: 9_000 })]],
})
edge('http.ack-200', 'no other status', {
  pass: [204, 503].map(status => [
    webhook('http.ack/a', 200),
    webhook('http.ack/a', status, { change: status === 503 ? null : 'x' }),
  ]),
  'untested the agent answered nothing': [[webhook('http.ack/a', 503)]],
  'fail answered 204 to task.submitted': [[webhook('http.ack/a', 200), webhook('http.ack/a', 204)]],
})
edge('http.get-harmless', 'whatever it answers, but for errors of its own', {
  pass: [405, 404, 200, 501].map(status => [forged('http.get-harmless', status)]),
  'warn failed over a POST': [500, 502, 599].map(status => [forged('http.get-harmless', status)]),
  'inconclusive the agent could not be asked': [[forged('http.get-harmless', null, { error: 'refused: no' })]],
  inconclusive: [[]],
})
const LIST = '/api/tasks?status=pending'
const looked = (more: object = {}) => ({ ...request(LIST, 200), method: 'GET', ...more }) as Happening
const unknown = (between: Happening, ...later: readonly Happening[]) => [
  ...[looked(), task('http.unknown-event'), webhook('http.unknown-event', 200), between],
  ...[callback('http.unknown-event', 'accept'), ...later, quiet],
]
edge('http.unknown-event', 'who finds the task in its list in between knows it from there', {
  pass: [unknown(looked())],
  'warn called back with accept': [
    unknown(quiet),
    unknown(quiet, looked()),
    unknown(looked({ method: 'POST' })),
    unknown(looked({ status: 401 })),
    unknown(looked({ path: `${LIST.replace('?', '/task_1?')}` })),
  ],
})
const burst = (...decisions: readonly Happening[]) => [
  ...[first, callback('first-task', 'accept'), step('first-task', 'accept')],
  ...[task('http.burst'), webhook('http.burst', 200), ...decisions],
]
edge('http.burst', 'one decision about each task', {
  pass: [
    burst(callback('http.burst', 'accept')),
    burst(callback('http.burst', 'accept'), callback('http.burst', 'accept')),
  ],
  'warn decided twice': [
    burst(callback('http.burst', 'accept'), callback('http.burst', 'reject')),
    burst(...['one reason', 'another'].map(reason => callback('http.burst', 'reject', '', { body: text({ reason }) }))),
    burst(...['no json', 'nor this'].map(words => callback('http.burst', 'accept', '', { body: text(words) }))),
  ],
  'warn took a task': [burst()],
  'warn lost one': [[task('http.burst'), webhook('http.burst', 400)]],
  'inconclusive no task was sent': [[]],
})

const refusals = (...all: readonly Happening[]) => all
edge('sig.refusal-401', 'nothing else', {
  pass: [refusals(forged('sig.empty', 401))],
  'warn answered 403, nothing in place of 401 to 2 of 3': [
    refusals(forged('sig.empty', 401), forged('sig.no-dot', 403), forged('sig.seconds', null, { error: 'reset' })),
  ],
  'untested the agent refused nothing': [refusals(forged('sig.empty', 200)), refusals(forged('sig.empty', 429))],
})
const digest = 'f'.repeat(64)
edge('sig.refusal-clean', 'no 5xx, no digest, half of them within five seconds', {
  pass: [
    refusals(forged('sig.empty', 401, { ms: 5_000 })),
    refusals(forged('sig.empty', 499)),
    refusals(...[1, 1, 9_000].map(ms => forged('sig.empty', 401, { ms }))),
    refusals(forged('sig.empty', 401, { headers: [['X', digest]], answer: answered(401, digest) })),
    refusals(forged('sig.empty', 401, { answer: answered(401, digest.slice(1)) })),
  ],
  'warn failed over it \\(forged\\): it was answered 500': [
    refusals(forged('sig.empty', 500), forged('sig.no-dot', 502)),
  ],
  'warn told a digest': [
    refusals(forged('sig.empty', 401, { answer: answered(401, `no: ${digest}`) })),
    refusals(forged('sig.empty', 401, { answer: answered(401, `${'A'.repeat(43)}=`) })),
  ],
  'warn took 5001 ms': [refusals(forged('sig.empty', 401, { ms: 5_001 }))],
})

const valid = (label = 'sig.valid') => webhook(label, 200)
const refused = (...about: readonly Happening[]) => [
  valid(),
  task('sig.one-bit'),
  ...about,
  valid('sig.valid/again'),
  quiet,
]
edge('sig.one-bit', 'refused, without effect, between genuine webhooks that were taken', {
  pass: [refused(forged('sig.one-bit', 401)), refused(forged('sig.one-bit', null, { error: 'timeout: none' }))],
  'fail took it': [refused(forged('sig.one-bit', 200)), refused(forged('sig.one-bit', 299))],
  'fail refused it, and still called back with accept': [
    refused(forged('sig.one-bit', 401), callback('sig.one-bit', 'accept')),
  ],
  'inconclusive the agent could not be asked': [refused(forged('sig.one-bit', null, { error: 'refused: no' }))],
  'inconclusive the agent did not accept the genuine': [
    [task('sig.one-bit'), forged('sig.one-bit', 401), valid(), quiet],
    [valid(), task('sig.one-bit'), forged('sig.one-bit', 401), quiet],
    [
      valid(),
      task('sig.one-bit'),
      forged('sig.one-bit', 401),
      webhook('sig.valid/again', null, { error: 'dns' }),
      quiet,
    ],
  ],
  'untested the agent did not accept the genuine': [
    [valid(), task('sig.one-bit'), forged('sig.one-bit', 401), webhook('sig.valid/again', 401), quiet],
    [webhook('sig.valid', 401), task('sig.one-bit'), forged('sig.one-bit', 401), valid(), quiet],
  ],
  'inconclusive the run ended before the quiet time': [refused(forged('sig.one-bit', 401)).slice(0, -1)],
  'inconclusive no forged webhook was sent': [refused()],
})

edge('rel.two-megabytes', 'five seconds, and there for the next', {
  pass: [[forged('rel.two-megabytes', 413, { ms: 5_000 }), webhook('rel.two-megabytes/next', 200)]],
  'warn left two megabytes': [
    [forged('rel.two-megabytes', 413, { ms: 5_001 }), webhook('rel.two-megabytes/next', 200)],
  ],
  'warn was not there': [
    [forged('rel.two-megabytes', 413), webhook('rel.two-megabytes/next', null, { error: 'refused' })],
  ],
})
edge('rel.not-json', 'nothing comes of it', {
  pass: [[task('rel.not-json'), forged('rel.not-json', 400), webhook('rel.not-json/next', 200)]],
  'warn called back with accept': [
    [
      task('rel.not-json'),
      forged('rel.not-json', 400),
      callback('rel.not-json', 'accept'),
      webhook('rel.not-json/next', 200),
    ],
  ],
  'inconclusive the run ended before': [[forged('rel.not-json', 400)]],
})

const contact = (...about: readonly Happening[]) => [first, webhook('first-task', 200), ...about]
const decidedAfter = (ms: number) => [
  at(0, first),
  at(0, webhook('first-task', 200)),
  at(ms, step('first-task', 'accept')),
]
edge('life.decides', 'its patience', {
  pass: [decidedAfter(1), [at(0, first), at(1, step('first-task', 'reject'))]],
  'warn decided after 2 ms': [decidedAfter(2)],
  'warn did neither': [contact()],
  'untested it did not accept the webhook': [[first, webhook('first-task', 401)]],
})
const deliveredAfter = (ms: number) => [
  first,
  at(0, step('first-task', 'accept')),
  at(0, callback('first-task', 'accept')),
  at(ms, step('first-task', 'deliver')),
]
edge('life.delivers', 'its patience', {
  pass: [deliveredAfter(1)],
  'warn delivered after 2 ms': [deliveredAfter(2)],
  'warn accepted the task and did not deliver': [deliveredAfter(0).slice(0, 3)],
  'untested the agent rejected': [contact(step('first-task', 'reject'))],
})
edge('life.accepts', 'no other callback in its place', {
  'warn called back with message in place': [contact(callback('first-task', 'message'))],
  'warn sent an accept that was refused with 403': [
    contact(callback('first-task', 'accept', '', { answer: answered(403) })),
  ],
  'untested the agent rejected': [contact(step('first-task', 'reject'))],
  'untested the agent did not accept': [contact()],
  'untested its callbacks were refused for their form': [
    contact(callback('first-task', 'message', '', { signature: 'wrong' as never })),
  ],
})
const doneAgain = (later: number) => [first, at(1_000, deliver('first-task')), at(1_000 + later, deliver('first-task'))]
edge('life.done-once', 'only what begins when the answer has gone out is sent again', {
  pass: [
    doneAgain(1),
    doneAgain(0).slice(0, 2),
    [first, deliver('first-task', 'a', { answer: answered(400) }), deliver('first-task')],
  ],
  'warn delivered the same once more': [doneAgain(2)],
  'untested the agent did not deliver': [[first]],
})
const raced = (accepts: number) => [
  task('life.cancel-race'),
  step('life.cancel-race', 'cancel'),
  ...times(accepts, () => callback('life.cancel-race', 'accept', '', { answer: answered(400) })),
]
edge('life.cancel-race', 'three accepts', {
  pass: [raced(0), raced(3)],
  'warn tried to accept 4 times': [raced(4)],
  'warn did not accept task.cancelled': [[...raced(0), webhook('life.cancel-race', 400, { event: 'task.cancelled' })]],
  'pass it was quicker': [[task('life.cancel-race')]],
})
const reasoned = (reason: unknown) => [callback('a', 'reject', '', { body: text({ action: 'reject', reason }) })]
edge('life.reject-reason', 'words, 2,000 at most', {
  pass: [reasoned('no'), reasoned('😀'.repeat(2_000))],
  'warn rejected without a reason': [reasoned('  '), reasoned('n'.repeat(2_001)), reasoned(undefined), reasoned(7)],
  'untested the agent rejected nothing': [[callback('a', 'accept')]],
})
const fieldsRefused = (action: string, ...fields: readonly string[]) => [
  callback('a', action, '', {
    answer: answered(400, { errors: Object.fromEntries(fields.map(name => [name, ['no']])) }),
  }),
]
edge('life.content', 'content and notes of deliveries', {
  'fail delivered what is too long': [fieldsRefused('deliver', 'content'), fieldsRefused('deliver', 'notes')],
  pass: [
    fieldsRefused('deliver', 'files'),
    fieldsRefused('deliver'),
    [deliver('a', 'a', { answer: answered(409, { errors: { content: [] } }) })],
    [deliver('a', 'a', { answer: answered(400, 'no') })],
  ],
  untested: [fieldsRefused('message', 'content')],
})
edge('life.message-length', 'content of messages', {
  'warn wrote a message that is too long': [fieldsRefused('message', 'content')],
  pass: [fieldsRefused('message', 'action'), [callback('a', 'message')]],
  untested: [fieldsRefused('deliver', 'content')],
})

const ROUNDS = 'life.revision-rounds'
const asks = (reason: string) =>
  told(ROUNDS, 'revision_requested', { body: text({ data: { revisionReason: reason } }) })
const byReasons = (...works: readonly string[]) => [
  task(ROUNDS),
  ...works.flatMap((work, index) => [deliver(ROUNDS, work), step(ROUNDS, 'deliver'), asks(`Reason ${index + 1}`)]),
]
edge('life.second-reason', 'the words of each reason', {
  pass: [byReasons('a', 'b', 'c'), byReasons('a', 'a REASON 1', 'a reason 2'), byReasons('a', 'b', 'b reason 2')],
  'warn delivered the first revision again': [byReasons('a', 'b', 'b')],
  'warn took the words of the first reason': [byReasons('a', 'reason 1', 'version 2: reason 1')],
  'untested the agent did not deliver two': [
    byReasons('a', 'b'),
    [...byReasons('a', 'b'), deliver(ROUNDS, 'c')].toSpliced(-2, 1),
  ],
})

const orders = (refusedTimes: number) => [
  task('hire.over-cap'),
  ...times(refusedTimes, () => request('/api/tasks/task_1/submit', 400)),
  request('/api/tasks/task_1/submit', 200),
]
edge('hire.over-cap', 'five refusals', {
  pass: [orders(5), orders(0)],
  'warn ordered 6 times': [orders(6)],
  'untested the agent ordered nothing': [
    [task('hire.over-cap'), request('/api/tasks/x/submit/y', 400)],
    [request('/api/tasks/x/submit', 400), task('hire.over-cap')],
  ],
})
const approve = (status: number) => request('/api/tasks/task of hire.delivered-to-buyer/approve', status)
edge('hire.pays-once', 'nothing after an approval that counted', {
  pass: [
    [task('hire.delivered-to-buyer'), approve(200)],
    [task('hire.delivered-to-buyer'), approve(409), approve(200)],
  ],
  'fail approved the same delivery again': [
    [task('hire.delivered-to-buyer'), approve(200), approve(400)],
    [task('hire.delivered-to-buyer'), approve(299), approve(200)],
  ],
  'untested the agent did not approve': [[task('hire.delivered-to-buyer')]],
})

test.run()
