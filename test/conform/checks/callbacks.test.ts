// engines: embedded; process: shared
/** What an agent sends, to whom, and what it does when that goes wrong: on each side of every edge is a history that is made up. */
import { test } from 'uvu'
import type { Happening } from '../../../src/conform/history/history.ts'
import { answered, callback, deliver, edge, forged, quiet, refused, request, text, times, told } from '../edge.ts'
import { played, step, task, webhook } from '../made-up.ts'

const met = (label: string, action = 'deliver', status: number | null = null) =>
  callback(label, action, 'a', { fault: { name: 'a fault', status }, answer: null })

for (const [id, level] of [
  ['cb.lost-accept', 'warn'],
  ['cb.not-committed', 'warn'],
] as const)
  edge(id, 'whatever the fault met', {
    pass: [
      [task(id), met(id), step(id, 'deliver')],
      [task(`${id}/1`), met(`${id}/1`), step(`${id}/1`, 'deliver')],
    ],
    [`${level} did not deliver after its deliver met “a fault”`]: [
      [task(id), met(id)],
      [task(id), met(id), step(id, 'accept')],
      [task(`${id}/1`), met(`${id}/1`), step(`${id}/1`, 'deliver'), task(`${id}/2`), met(`${id}/2`)],
    ],
    'inconclusive nothing was sent': [[]],
    'untested the agent answered with reject': [[task(id), callback(id, 'reject')]],
    'untested the agent did not call back': [[task(id)]],
  })
const GATEWAY = 'cb.bad-gateway/deliver'
const gateway = [task(GATEWAY), met(GATEWAY), step(GATEWAY, 'deliver')]
edge('cb.bad-gateway', 'delivered, and the same', {
  pass: [[...gateway, deliver(GATEWAY, 'a')]],
  'warn delivered 2 different texts': [[...gateway, deliver(GATEWAY, 'b')]],
  'warn did not deliver after its deliver met': [gateway.slice(0, 2)],
})
for (const id of ['cb.lost-deliver', 'cb.slow'])
  edge(id, 'the same work', {
    pass: [
      [task(id), met(id)],
      [task(id), met(id), deliver(id, 'a'), callback(id, 'message', 'b')],
    ],
    'fail delivered 2 different texts': [[task(id), met(id), deliver(id, 'b', refused)]],
    'untested the agent did not call back': [[task(id)]],
  })
const DOWN = 'cb.down'
edge(DOWN, 'delivered, unless it rejects', {
  pass: [[task(DOWN), step(DOWN, 'deliver')]],
  'warn did not deliver': [[task(DOWN), webhook(DOWN, 200), step(DOWN, 'accept')]],
  'untested the agent rejected the task': [[task(DOWN), step(DOWN, 'reject')]],
})
const URL = 'cb.url'
const body = text({ data: { callbackUrl: 'http://localhost:1/prefix/api/x?key=1' } })
const given = (change: string | null, status = 200) => webhook(URL, status, { body, change })
const called = (path: string, more = {}) => callback(URL, 'accept', '', { path, ...more })
const astray = (path: string, method = 'POST') => ({ ...request(path, 404), method }) as Happening
edge(URL, 'with its path and its query', {
  pass: [
    [task(URL), given('odd'), called('/prefix/api/x?key=1')],
    [task(URL), given('odd'), called('/prefix/api/x?key=1'), called('/api/x', { signature: 'key' })],
    [task(URL), given('odd'), called('/prefix/api/x?key=1'), astray('/api/y'), astray(`/api/task of ${URL}`, 'GET')],
  ],
  'fail called /prefix/api/x, and not /prefix/api/x\\?key=1': [[task(URL), given('odd'), called('/prefix/api/x')]],
  [`fail called /api/task of ${URL}, and not`]: [
    [task(URL), given('odd'), called('/prefix/api/x?key=1'), astray(`/api/task of ${URL}`)],
  ],
  'untested the agent has sent no signed callback': [[task(URL), given('odd'), called('/api/x', { signature: 'key' })]],
  'untested the agent did not accept the webhook': [
    [task(URL), given(null)],
    [task(URL), given('odd', 400)],
    [task(URL), told(URL, 'message', { change: 'odd' })],
  ],
})
const MOVED = 'cb.no-redirect'
edge(MOVED, 'nothing is sent there', {
  pass: [[task(MOVED), met(MOVED), request('/moved/on', 404)]],
  'warn sent the callback on to the other address': [[task(MOVED), met(MOVED), request('/x/moved', 404)]],
})
const files = (status: number | null) =>
  callback('a', 'deliver', '', {
    headers: [['content-type', 'Multipart/form-data; b']],
    answer: status === null ? null : answered(status, 'no'),
  })
edge('cb.files', 'each was taken', {
  pass$: [[files(200)], [files(399), files(null)]],
  'pass sent files that were refused: no': [[files(200), files(400)]],
  'untested the agent has sent no files': [[deliver('a')], []],
})
const signed = (signature: string, taskId = 'task of a') => callback('a', 'accept', '', { signature, taskId })
edge('cb.signature', 'each but those of tests', {
  pass: [[signed('valid'), signed('key'), signed('wrong', 'test_1')]],
  'fail sent a callback that does not verify: wrong$': [[signed('wrong'), signed('valid')]],
  'fail sent a callback that does not verify: wrong \\(2 of 3 callbacks\\)': [
    [signed('wrong'), signed('valid'), signed('wrong')],
  ],
  'untested the agent has sent no signed callback': [[signed('key'), signed('wrong', 'test_1')]],
})
const cut = { ...text('{}'), size: 3 }
edge('cb.signature', 'each that was kept whole', {
  pass: [[signed('valid'), callback('a', 'accept', '', { signature: 'wrong', body: cut })]],
})

const HOST = 'safe.no-foreign-host'
const asked = { ...task(HOST), canary: 'ref-1' } as Happening
edge(HOST, 'nothing of the task, nor of its words', {
  pass$: [
    [asked, request('/api/tasks/ref-1', 200)],
    [request('http://a.example/ref-1', 200), asked],
  ],
  'pass it calls a.example, b.example$': [
    [asked, request('http://a.example/x', 200), request('b.example/x', 200), request('https://a.example', 200)],
  ],
  'pass it calls 0.example, 1.example, 2.example, 3.example, 4.example$': [
    [asked, ...[0, 1, 2, 3, 4, 5].map(at => request(`http://${at}.example/`, 200))],
  ],
  'warn told another host of a task: http://a.example/ref-1': [[asked, request('http://a.example/ref-1', 200)]],
  'warn told another host of a task: http://a.example/task of': [
    [task(HOST), request(`http://a.example/task of ${HOST}`, 200)],
  ],
  'untested the agent was not asked': [[]],
})

const ORDER = 'hire.delivered-to-buyer'
const ordered = [task(ORDER), told(ORDER, 'delivered_to_buyer')]
edge(ORDER, 'accepted', {
  pass: [ordered],
  'fail did not accept it: it was answered 400': [
    [task(ORDER), webhook(ORDER, 400, { event: 'task.delivered_to_buyer' })],
  ],
  'inconclusive no webhook was sent': [[task(ORDER), webhook(ORDER, 400)]],
})
const CAP = 'hire.over-cap'
edge(CAP, 'until its scenario has ended', {
  pass: [
    [
      task(CAP),
      request('/api/tasks/x/submit', 200),
      played('hires'),
      ...times(6, () => request('/api/tasks/x/submit', 400)),
    ],
  ],
})
edge('hire.ends-it', 'whichever way', {
  pass: ['approve', 'dispute'].map(trigger => [
    ...ordered,
    { ...step(ORDER, trigger), from: 'delivered' } as Happening,
  ]),
  'warn neither approved it nor asked for changes': [
    ordered,
    [...ordered, { ...step(ORDER, 'deliver'), from: 'in_progress' } as Happening],
  ],
})
edge('hire.not-the-seller', 'no callback', {
  pass: [[...ordered, callback('other', 'accept')]],
  'warn sent accept about a task that it has ordered': [[...ordered, callback(ORDER, 'accept', '', refused)]],
})

const doubled = (status: number) => [
  webhook('sig.valid', 200),
  task('sig.doubled-header'),
  forged('sig.doubled-header', status),
  webhook('sig.valid/again', 200),
  quiet,
]
edge('sig.doubled-header', 'refused', { pass: [doubled(401)], 'warn took it': [doubled(200)] })
edge('sig.refusal-401', 'of a doubled header too', {
  pass: [doubled(401)],
  'warn answered 403 in place of 401 to 1 of 1': [doubled(403)],
})
edge('sig.refusal-clean', 'of what was answered', {
  'untested the agent answered nothing': [[forged('sig.empty', 200)]],
  'warn failed over it \\(forged\\): it was answered 500': [[forged('sig.empty', 401), forged('sig.no-dot', 500)]],
})

test.run()
