// engines: embedded; process: shared
/** What comes twice, and what only looks like it: on each side of every edge is a history that is made up. */
import { test } from 'uvu'
import type { Happening } from '../../../src/conform/history/history.ts'
import { answered, at, callback, deliver, edge, refused, times, told } from '../edge.ts'
import { reply, step, task, webhook } from '../made-up.ts'

const RETRY = 'dup.retry'
const again = { attempt: 2 }
const [asked, retried] = [told(RETRY, 'submitted'), told(RETRY, 'submitted', again)]
const done = (label: string, content = 'a') => [deliver(label, content), step(label, 'deliver')]
const copied = (...more: readonly Happening[]) => [task(RETRY), asked, retried, ...more]
const notTaken = (status: number, attempt: number) => webhook(RETRY, status, { attempt })
edge(RETRY, 'one decision and one delivery, and the retry is accepted where the first was', {
  pass: [
    copied(...done(RETRY)),
    copied(callback(RETRY, 'accept'), callback(RETRY, 'accept'), ...done(RETRY)),
    [task(RETRY), notTaken(400, 1), notTaken(400, 2), ...done(RETRY)],
    [task(RETRY), asked, retried, notTaken(400, 3), ...done(RETRY)],
    [task(RETRY), asked, notTaken(503, 2), ...done(RETRY)],
  ],
  'fail took the copy for something new: it decided twice, the second time reject': [
    copied(callback(RETRY, 'accept'), callback(RETRY, 'reject'), ...done(RETRY)),
  ],
  'fail took the copy for something new: it delivered twice': [
    copied(...done(RETRY), deliver(RETRY, 'b')),
    copied(...done(RETRY), deliver(RETRY, 'a', refused)),
  ],
  'fail does not accept the retry: it was answered 400': [
    [task(RETRY), asked, notTaken(400, 2), ...done(RETRY)],
    [task(RETRY), asked, notTaken(400, 2), retried, ...done(RETRY)],
  ],
  'untested the agent did not deliver the task': [copied(), copied(callback(RETRY, 'accept'))],
  'inconclusive no copy was sent': [
    [task(RETRY), asked, ...done(RETRY)],
    [task(RETRY), asked, told(RETRY, 'message'), ...done(RETRY)],
  ],
})

const old = { change: 'old copy' }
for (const [id, event, rounds] of [
  ['dup.submitted-in-revision', 'submitted', 1],
  ['dup.old-revision', 'revision_requested', 2],
] as const) {
  const revised = (after: number) =>
    times(after, index => [
      step(id, 'request_revision'),
      told(id, 'revision_requested'),
      ...done(id, `work ${index}`),
    ]).flat()
  const begun = [task(id), told(id, 'submitted'), ...done(id), ...revised(rounds - 1), step(id, 'request_revision')]
  const rest = [told(id, 'revision_requested'), ...done(id, 'the last')]
  edge(id, 'nothing for the copy, which comes before what asks for work', {
    pass: [
      [...begun, told(id, event, old), ...rest],
      [...begun, ...rest],
      [...begun, told(id, event, old), callback(id, 'message'), ...rest],
    ],
    'fail took the copy for new work': [
      [...begun, told(id, event, old), deliver(id, 'b'), ...rest],
      [...begun, told(id, event, old), told(id, 'message'), deliver(id, 'b'), ...rest],
      [...begun, told(id, event, old), deliver(id, 'b')],
    ],
    'fail delivered once more than it was asked to': [[...begun, told(id, event, old), ...rest, deliver(id, 'b')]],
    'untested the agent did not deliver the task': [[task(id), told(id, 'submitted')]],
    'untested the agent did not deliver the revision': [[...begun, told(id, event, old), rest[0]!]],
  })
}
const COPY = 'dup.submitted-in-revision'
const timed = (deliveredAt: number) => [
  ...[task(COPY), at(90, deliver(COPY)), step(COPY, 'deliver'), at(95, step(COPY, 'request_revision'))],
  ...[at(101, told(COPY, 'submitted', old)), at(201, told(COPY, 'revision_requested'))],
  ...[at(deliveredAt + 1, deliver(COPY, 'b')), step(COPY, 'deliver')],
]
edge(COPY, 'from the moment of the copy on, and until that of the webhook which asks for work', {
  pass: [timed(200), timed(99)],
  'fail took the copy for new work': [timed(100), timed(199)],
})

const [plain, twice] = ['dup.message/plain', 'dup.message/copied']
const messages = (count: number, ofPlain: number, ofCopied: number) => [
  ...[task(plain), task(twice), told(plain, 'message')],
  ...times(count, () => told(twice, 'message')),
  ...times(ofPlain, () => reply(plain)),
  ...times(ofCopied, () => reply(twice)),
]
edge('dup.message', 'as many replies as to a message that comes once', {
  pass$: [
    messages(2, 1, 1),
    messages(2, 2, 2),
    messages(2, 0, 1),
    [...messages(2, 1, 1), reply(twice, { answer: answered(400) })],
  ],
  'pass it replies to no message': [messages(2, 0, 0)],
  'fail replied to the copy too': [messages(2, 1, 2), messages(2, 0, 2)],
  'untested the agent did not deliver the task': [messages(1, 1, 1)],
})

const ENDS = ['cancelled', 'approved', 'disputed'] as const
type Ends = Partial<Record<(typeof ENDS)[number], readonly Happening[]>>
const ended = (changed: Ends) =>
  ENDS.flatMap(name => {
    const label = `dup.ends/${name}`
    return [task(label), ...(changed[name] ?? [told(label, name), told(label, name)])]
  })
const approved = (status: number) => webhook('dup.ends/approved', status, { event: 'task.approved' })
const [said, worked] = [reply('dup.ends/approved'), callback('dup.ends/approved', 'accept')]
edge('dup.ends', 'each end is accepted twice, and nothing is done or said again', {
  pass: [
    ended({}),
    ended({ approved: [approved(500), approved(500)] }),
    ended({ approved: [worked, said, approved(200), said, approved(200)] }),
    ended({ approved: [approved(200), approved(200), said] }),
  ],
  'fail did not accept the copy: it was answered 500': [
    ended({ approved: [approved(200), approved(500)] }),
    ended({ cancelled: [], approved: [approved(200), approved(200), approved(500)] }),
  ],
  'fail sent accept about a task that was over': [ended({ approved: [approved(200), worked, approved(200)] })],
  'fail sent its message for the copy again': [ended({ approved: [approved(200), said, approved(200), said] })],
  'untested the agent did not deliver the task': [
    ended({ cancelled: [] }),
    ended({ disputed: [told('dup.ends/disputed', 'disputed')] }),
    ended({ disputed: times(2, () => told('dup.ends/disputed', 'message')) }),
  ],
})

const [burnt, twin] = ['dup.forged-does-not-burn', 'dup.forged-does-not-burn/twin']
edge(burnt, 'beside a like task that no stranger knew of', {
  pass: [
    [task(burnt), task(twin), callback(burnt, 'accept')],
    [task(burnt), task(twin), callback(burnt, 'accept'), callback(twin, 'accept')],
  ],
  'fail did nothing about the genuine webhook': [
    [task(burnt), webhook(burnt, 200), task(twin), callback(twin, 'accept')],
  ],
  'untested the agent did not decide about the like task': [[task(burnt), task(twin)]],
  'inconclusive nothing was sent': [[task(burnt), callback(burnt, 'accept')]],
})

const [one, other] = ['dup.not-by-content/1', 'dup.not-by-content/2']
edge('dup.not-by-content', 'both are delivered, unless the second is rejected', {
  pass: [[task(one), task(other), ...done(one), ...done(other)]],
  'fail did not deliver the second': [
    [task(one), task(other), webhook(other, 200), ...done(one), step(other, 'accept')],
  ],
  'untested the agent rejected the second': [[task(one), task(other), ...done(one), step(other, 'reject')]],
  'untested the agent did not deliver the first': [
    [task(one), task(other), ...done(other)],
    [task(one), ...done(one)],
  ],
})

const BY_TASK = 'dup.not-by-task'
const revision = [task(BY_TASK), ...done(BY_TASK), told(BY_TASK, 'revision_requested')]
const elsewhere = (...steps: readonly string[]) => [
  task('life.revision'),
  ...steps.map(name => step('life.revision', name)),
]
edge(BY_TASK, 'unless it ignores every revision', {
  pass: [
    [...revision, ...done(BY_TASK, 'b')],
    [...elsewhere('deliver', 'request_revision'), ...revision, ...done(BY_TASK, 'b')],
  ],
  'fail did nothing about the revision': [
    revision,
    [...elsewhere('deliver'), ...revision],
    [...elsewhere('deliver', 'request_revision', 'deliver'), ...revision],
  ],
  'behind after life.revision failed': [[...elsewhere('deliver', 'request_revision'), ...revision]],
  'untested the agent did not deliver the task': [[task(BY_TASK)]],
})

const BY_TEXT = 'dup.not-by-text'
const message = (realAt: number, status = 200) => at(realAt + 1, webhook(BY_TEXT, status, { event: 'task.message' }))
const replied = (realAt: number, more = {}) => at(realAt + 1, reply(BY_TEXT, more))
const two = [task(BY_TEXT), message(1_000), message(1_100)]
edge(BY_TEXT, 'a reply to the first, surely before the second, and one more', {
  'pass it did not reply': [two, [...two, replied(1_080)], [...two, replied(1_010, refused)]],
  pass$: [[...two, replied(1_079), replied(1_100)]],
  'fail replied to the first alone': [
    [...two, replied(1_079)],
    [...two, replied(1_079), replied(1_100, refused)],
  ],
  'fail did not accept the second: it was answered 400': [[task(BY_TEXT), message(1_000), message(1_100, 400)]],
  pass: [[task(BY_TEXT), message(1_000, 400), message(1_100, 400)]],
  'untested the agent did not deliver the task': [two.slice(0, 2)],
})

const late = (label: string, more = {}) => [
  task(label),
  deliver(label),
  step(label, 'deliver'),
  callback(label, 'accept', '', { ...refused, ...more }),
]
edge('dup.quiet', 'callbacks about what came twice, of an agent that is not refused anyway', {
  'warn sent accept, and was refused with 400': [late('dup.retry'), late('dup.message/copied')],
  'warn sent accept, and was refused with 409': [late('dup.retry', { answer: answered(409) })],
  pass$: [
    ...['dup.redelivered', 'dup.after-restart', 'dup.late', 'life.revision'].map(label => late(label)),
    late('dup.retry', { answer: answered(403) }),
    late('dup.retry', { fault: { name: 'a fault', status: 400 } }),
    [...late('dup.retry'), deliver('dup.retry', 'b')],
    [],
  ],
  'pass callbacks without any copy are refused too': [[...late('dup.retry'), ...late('first-task')]],
})

test.run()
