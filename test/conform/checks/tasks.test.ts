// engines: embedded; process: shared
/** What is done about tasks, and how they end: on each side of every edge is a history that is made up. */
import { test } from 'uvu'
import type { Happening } from '../../../src/conform/history/history.ts'
import { answered, at, callback, deliver, edge, first, money, refused, text, times, told } from '../edge.ts'
import { begin, reply, step, task, webhook } from '../made-up.ts'

const done = (label: string, content = 'a') => [deliver(label, content), step(label, 'deliver')]
const FIRST = 'first-task'
const outOfTurn = (realAt: number, more = refused) => at(realAt, deliver(FIRST, 'a', more))
const acceptAt = (realAt: number) => at(realAt, callback(FIRST, 'accept'))
edge('life.accept-before-deliver', 'within a quarter of a second, as requests may change places', {
  pass: [
    [first, acceptAt(1_000), outOfTurn(1_001, { answer: answered(200) })],
    [first, at(1_000, deliver(FIRST)), acceptAt(1_250)],
    [first, at(1_000, deliver(FIRST)), at(1_249, step(FIRST, 'accept'))],
    [first, at(1_000, deliver(FIRST)), acceptAt(1_005)],
    [first, acceptAt(900), outOfTurn(1_000)],
    [first, outOfTurn(1_000), acceptAt(999), acceptAt(1_005)],
  ],
  'fail delivered first, and accepted only when that was refused': [
    [first, outOfTurn(1_000), acceptAt(1_000)],
    [first, outOfTurn(1_000, { answer: answered(409) }), acceptAt(1_100)],
  ],
  'fail delivered a task that it had not accepted': [
    [first, at(1_000, deliver(FIRST)), acceptAt(1_251)],
    [first, at(1_000, deliver(FIRST)), at(1_250, step(FIRST, 'accept'))],
    [first, deliver(FIRST)],
  ],
  'untested the agent did not deliver the sample': [[first, callback(FIRST, 'accept')]],
})
edge('life.one-deliverable', 'one content', {
  pass: [[first, ...done(FIRST), deliver('other', 'b')]],
  'fail delivered twice, with different contents': [[first, ...done(FIRST), deliver(FIRST, 'b', refused)]],
  'untested the agent did not deliver the sample': [[first], [first, deliver(FIRST, 'a', refused)]],
})
const accepted = [first, step(FIRST, 'accept'), callback(FIRST, 'accept')]
edge('life.accepts', 'and the price is held once', {
  pass: [[...accepted, money(FIRST, 'hold', 500), money(FIRST, 'release', 1)]],
  'inconclusive the price was not held once': [
    accepted,
    [...accepted, money(FIRST, 'hold', 499)],
    [...accepted, money(FIRST, 'hold', 500), money(FIRST, 'hold', 500)],
  ],
  'warn sent an accept that was refused with no answer': [[first, callback(FIRST, 'accept', '', { answer: null })]],
  'untested the agent rejected the sample': [[first, step(FIRST, 'reject'), callback(FIRST, 'reject')]],
  'untested the agent did not accept the sample': [[first, deliver(FIRST, 'a', refused)]],
})
const person = { ...begin, declared: ['a person does the work'] } as Happening
edge('life.delivers', 'unless it can be no delivery', {
  'untested a person does the work, as declared': [[person, ...accepted]],
  'untested its callbacks were refused for their form': [[...accepted, deliver(FIRST, 'a', { signature: 'wrong' })]],
  'behind after life.accept-before-deliver failed': [
    [first, step(FIRST, 'accept'), at(1, deliver(FIRST, 'a', refused))],
  ],
  'untested the agent did not accept the sample': [[first]],
})
edge('life.decides', 'unless its callbacks are refused for their form', {
  'untested its callbacks were refused for their form': [
    [first, webhook(FIRST, 200), callback(FIRST, 'accept', '', { signature: 'wrong' })],
    [first, webhook(FIRST, 200), callback(FIRST, 'accept', '', { headers: [['Content-Type', 'text/plain']] })],
  ],
  'warn did neither accept nor reject the task': [
    [first, webhook(FIRST, 200), callback(FIRST, 'accept', '', { signature: 'key' })],
    [first, webhook(FIRST, 200), callback(FIRST, 'accept', '', { headers: [['content-type', 'multipart/form-data']] })],
  ],
})

const REVISION = 'life.revision'
const asks = (label: string) => told(label, 'revision_requested')
const revised = [
  task(REVISION),
  money(REVISION, 'hold', 500),
  ...done(REVISION),
  step(REVISION, 'request_revision'),
  asks(REVISION),
]
edge(REVISION, 'delivered once more, for one price', {
  pass: [[...revised, ...done(REVISION, 'b')]],
  'fail did not deliver revision 1': [revised],
  'fail delivered once more than it was asked to': [
    [...revised, ...done(REVISION, 'b'), deliver(REVISION, 'c', refused)],
  ],
  'inconclusive the price was not held once': [[...revised, money(REVISION, 'hold', 500), ...done(REVISION, 'b')]],
  'untested the agent did not deliver the task': [revised.slice(0, 4)],
})
edge('life.revision-in-progress', 'no second decision', {
  pass: [
    [callback(REVISION, 'accept'), ...revised],
    [...revised, callback(REVISION, 'message')],
  ],
  'warn sent accept for a task that it had accepted': [[...revised, callback(REVISION, 'accept', '', refused)]],
  'warn sent reject': [[...revised, callback(REVISION, 'reject', '', refused)]],
  'untested the agent did not deliver the task': [[task(REVISION), callback(REVISION, 'accept')]],
})
edge('life.revision-differs', 'of what was taken', {
  pass: [
    [...revised, ...done(REVISION, 'b')],
    [...revised, deliver(REVISION, 'b', refused), deliver(REVISION, 'c')],
  ],
  'warn delivered the same once more': [
    [...revised, ...done(REVISION)],
    [...revised, deliver(REVISION, 'b', refused), deliver(REVISION)],
  ],
  'untested the agent did not deliver the revision': [revised],
})
const ROUNDS = 'life.revision-rounds'
const rounds = (count: number) => [
  ...[task(ROUNDS), ...done(ROUNDS)],
  ...times(count, index => [step(ROUNDS, 'request_revision'), asks(ROUNDS), ...done(ROUNDS, `${index}`)]).flat(),
]
edge(ROUNDS, 'three', {
  pass: [rounds(3)],
  'fail did not deliver revision 3': [rounds(3).slice(0, -2)],
  'fail did not deliver revision 2': [rounds(2)],
})

const CANCELLED = 'life.cancelled'
const cancelled = [task(CANCELLED), callback(CANCELLED, 'message'), told(CANCELLED, 'cancelled')]
const refund = money(CANCELLED, 'refund', 500)
edge(CANCELLED, 'nothing more is done or written, and all is paid back', {
  pass: [
    [...cancelled, refund],
    [...cancelled, callback(CANCELLED, 'accept', '', refused), refund],
  ],
  'fail delivered a cancelled task': [[...cancelled, deliver(CANCELLED, 'a', refused), refund]],
  'fail wrote about a cancelled task': [[...cancelled, callback(CANCELLED, 'message', 'b', refused), refund]],
  'fail did not accept task.cancelled: it was answered 404': [
    [task(CANCELLED), webhook(CANCELLED, 404, { event: 'task.cancelled' })],
  ],
  'inconclusive the refund is not whole': [
    cancelled,
    [...cancelled, money(CANCELLED, 'refund', 499)],
    [...cancelled, money(CANCELLED, 'release', 500)],
  ],
  'untested the agent did not accept the task': [cancelled.slice(0, 2)],
})
edge('life.cancel-race', 'of those that it has lost', {
  'pass it was quicker': [[task('life.cancel-race'), step('life.cancel-race', 'accept')]],
  pass$: [[task('life.cancel-race'), step('life.cancel-race', 'accept'), step('life.cancel-race', 'cancel')]],
})

const ends = (label: string, event: string, moves: Readonly<Record<string, number>>, ...more: readonly Happening[]) => [
  ...[task(label), callback(label, 'accept'), deliver(label), told(label, event)],
  ...Object.entries(moves).map(([move, amount]) => money(label, move, amount)),
  ...more,
]
for (const [id, event, moves] of [
  ['life.dispute-refund', 'disputed', { refund: 500 }],
  ['life.approved', 'approved', { release: 500, clearing: 500 }],
  ['life.dispute-last-minute', 'disputed', { release: 500, refund: 500 }],
] as const) {
  const wrong = Object.fromEntries(Object.keys(moves).map(move => [move, 499]))
  edge(id, 'accepted, nothing is done after it, and the cents go where they belong', {
    pass: [ends(id, event, moves), ends(id, event, moves, callback(id, 'message'))],
    [`fail sent deliver after task.${event}`]: [ends(id, event, moves, deliver(id, 'b', refused))],
    [`fail sent accept after task.${event}`]: [ends(id, event, moves, callback(id, 'accept', '', refused))],
    [`fail did not accept task.${event}: it was answered 400`]: [
      [task(id), webhook(id, 400, { event: `task.${event}` })],
    ],
    'inconclusive the cents of': [ends(id, event, wrong), ends(id, event, {})],
    'untested the agent did not deliver the task': [[task(id)]],
  })
}
edge('life.dispute-refund', 'nothing is released', {
  'inconclusive the cents of release are not 0': [ends('life.dispute-refund', 'disputed', { refund: 500, release: 1 })],
})
edge('life.dispute-last-minute', 'nothing clears', {
  'inconclusive the cents of clearing are not 0': [
    ends('life.dispute-last-minute', 'disputed', { release: 500, refund: 500, clearing: 500 }),
  ],
})
const [FULL, PART] = ['life.dispute-release/full', 'life.dispute-release/part']
const odd = (happenings: readonly Happening[]) =>
  happenings.map(one => (one.kind === 'task' ? { ...one, price: 501 } : one))
const settled = (whole: object, part: object) => [
  ...ends(FULL, 'disputed', whole as Record<string, number>),
  ...odd(ends(PART, 'disputed', part as Record<string, number>)),
]
edge('life.dispute-release', 'all of it, or half', {
  pass: [settled({ release: 500 }, { release: 251, refund: 250 })],
  'inconclusive the cents of release are not 500': [settled({ release: 499 }, { release: 251, refund: 250 })],
  'inconclusive the cents of refund are not 0': [settled({ release: 500, refund: 1 }, { release: 251, refund: 250 })],
  'inconclusive the cents of release are not 251': [settled({ release: 500 }, { release: 250, refund: 250 })],
  'inconclusive the cents of refund are not 250': [settled({ release: 500 }, { release: 251, refund: 251 })],
  'fail sent deliver': [[...settled({ release: 500 }, { release: 251, refund: 250 }), deliver(PART, 'b', refused)]],
  'inconclusive nothing was sent': [ends(FULL, 'disputed', { release: 500 })],
})

const MESSAGE = 'life.message'
const messages = (count: number) => [
  task(MESSAGE),
  ...times(count, () => told(MESSAGE, 'message')),
  told(MESSAGE, 'submitted'),
]
edge(MESSAGE, 'four, in each state', {
  pass: [messages(4)],
  'untested the agent did not deliver the task': [messages(3)],
  'fail did not accept a message: it was answered 400': [
    [...messages(1), webhook(MESSAGE, 400, { event: 'task.message' })],
  ],
  'inconclusive nothing was sent': [[]],
})

const OFF = 'life.deactivated'
const elsewhere = [task(REVISION), step(REVISION, 'deliver'), step(REVISION, 'request_revision')]
edge(OFF, 'the last event', {
  pass: [
    [task(OFF), ...done(OFF), asks(OFF), ...done(OFF)],
    [task(OFF), told(OFF, 'message')],
  ],
  'fail did not accept task.revision_requested': [[task(OFF), webhook(OFF, 404, { event: 'task.revision_requested' })]],
  'fail did not deliver the revision': [[task(OFF), ...done(OFF), asks(OFF)]],
  'behind after life.revision failed': [[...elsewhere, task(OFF), ...done(OFF), asks(OFF)]],
  'untested the agent did not deliver the task': [[task(OFF), told(OFF, 'submitted')]],
})
const [APPROVED, REVISED] = ['life.day-later/approved', 'life.day-later/revised']
const day = [task(APPROVED), told(APPROVED, 'approved'), task(REVISED), ...done(REVISED), asks(REVISED)]
edge('life.day-later', 'an approval, and a revision', {
  pass: [[...day, ...done(REVISED, 'b')]],
  'warn did not deliver the revision': [day],
  'warn did not accept the approval: it was answered 404': [
    [task(APPROVED), webhook(APPROVED, 404, { event: 'task.approved' }), task(REVISED)],
  ],
  'untested the agent did not deliver, or takes no revisions': [day.slice(0, -1), [day[0]!, ...day.slice(2)]],
  'behind after life.revision failed': [[...elsewhere, ...day]],
  'inconclusive nothing was sent': [day.slice(0, 2)],
})

for (const [id, end, other] of [
  ['life.sample-accepted', 'accept', 'reject'],
  ['life.sample-rejected', 'reject', 'accept'],
] as const)
  edge(id, 'each of them', {
    pass: [[task(`${id}/1`), step(`${id}/1`, end), task(`${id}/2`), step(`${id}/2`, end)]],
    [`fail ${other}ed a sample that it ${end}s, as declared`]: [
      [task(`${id}/1`), step(`${id}/1`, end), task(`${id}/2`), step(`${id}/2`, other)],
    ],
    [`fail did not ${end} a sample that it ${end}s, as declared`]: [
      [task(id), webhook(id, 200)],
      [task(id), webhook(id, 200), step(id, 'cancel')],
    ],
    'untested its callbacks were refused for their form': [[task(id), callback(id, end, '', { signature: 'wrong' })]],
    [`untested no sample is declared that it ${end}s`]: [[]],
  })
for (const id of ['life.smallest', 'life.price-is-free'])
  edge(id, 'either decision', {
    pass: [
      [task(id), step(id, 'accept')],
      [task(id), step(id, 'reject')],
    ],
    'fail did not accept the webhook: it was answered 400': [[task(id), webhook(id, 400)]],
    'fail did neither accept nor reject the task for 500 cents': [[task(id), webhook(id, 200)]],
    'untested its callbacks were refused for their form': [
      [task(id), webhook(id, 200), callback(id, 'accept', '', { signature: 'wrong' })],
    ],
    'inconclusive nothing was sent': [[], [task(id)]],
  })
const REJECTED = 'life.sample-rejected'
const rejected = (label: string, ...more: readonly Happening[]) => [
  task(label),
  callback(label, 'reject'),
  step(label, 'reject'),
  ...more,
]
edge('life.rejects', 'no work, and all is paid back', {
  pass: [
    rejected(REJECTED, money(REJECTED, 'refund', 500)),
    rejected(FIRST, money(FIRST, 'refund', 500)),
    rejected(REJECTED, callback(REJECTED, 'message'), money(REJECTED, 'refund', 500)),
  ],
  'fail sent deliver for a task that it had rejected': [
    rejected(REJECTED, money(REJECTED, 'refund', 500), deliver(REJECTED, 'a', refused)),
    rejected(FIRST, money(FIRST, 'refund', 500), deliver(FIRST, 'a', refused)),
  ],
  'inconclusive the refund is not whole': [
    rejected(REJECTED),
    rejected(REJECTED, money(REJECTED, 'refund', 499)),
    rejected(REJECTED, money(REJECTED, 'refund', 500), money(REJECTED, 'refund', 500)),
    [task(REJECTED), step(REJECTED, 'reject'), money(REJECTED, 'refund', 500)],
  ],
  'untested the agent rejected nothing': [[task(REJECTED), step(REJECTED, 'accept')], []],
})
edge('life.reject-reason', 'of each rejection', {
  'warn rejected without a reason': [[callback('a', 'reject', '', { body: text('no JSON') })]],
})
edge('life.content', 'of each delivery', { 'untested the agent did not deliver anything': [[callback('a', 'accept')]] })
edge('life.message-length', 'of each message', {
  'untested the agent wrote nothing': [[deliver('a')]],
  pass: [[reply('a')]],
})

test.run()
