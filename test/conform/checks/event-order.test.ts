// engines: embedded; process: shared
/** Orders of events, and buyers beside each other: on each side of every edge is a history that is made up. */
import { test } from 'uvu'
import type { Happening } from '../../../src/conform/history/history.ts'
import { callback, deliver, edge, first, refused, text, told } from '../edge.ts'
import { step, task, webhook } from '../made-up.ts'

const marked = (label: string, canary: string): Happening => Object.assign({}, task(label), { canary })

const CANCELLED = 'order.cancelled-first'
const cancelled = [task(CANCELLED), told(CANCELLED, 'cancelled'), told(CANCELLED, 'submitted')]
edge(CANCELLED, 'accepted, and not worked on', {
  pass: [cancelled, [...cancelled, callback(CANCELLED, 'accept', '', refused)]],
  'fail delivered a task that was cancelled': [[...cancelled, deliver(CANCELLED, 'a', refused)]],
  'fail did not accept task.submitted: it was answered 400': [[...cancelled.slice(0, 2), webhook(CANCELLED, 400)]],
})

const MESSAGE = 'order.message-first'
const message = [task(MESSAGE), told(MESSAGE, 'message'), told(MESSAGE, 'submitted')]
edge(MESSAGE, 'either decision', {
  pass: ['accept', 'reject'].map(trigger => [...message, step(MESSAGE, trigger)]),
  'fail did neither accept nor reject the task': [message, [...message, step(MESSAGE, 'cancel')]],
  'fail did not accept task.message: it was answered 404': [
    [task(MESSAGE), webhook(MESSAGE, 404, { event: 'task.message' }), step(MESSAGE, 'accept')],
  ],
})

const [UNKNOWN, NEXT] = ['order.unknown-task', 'order.unknown-task/next']
const unknown = [task(UNKNOWN), told(UNKNOWN, 'message'), task(NEXT)]
edge(UNKNOWN, 'accepted, as the next', {
  pass: [
    [...unknown, webhook(NEXT, 200)],
    [...unknown, webhook(NEXT, 503)],
  ],
  'fail did not accept task.message: it was answered 404': [
    [task(UNKNOWN), webhook(UNKNOWN, 404, { event: 'task.message' }), task(NEXT), webhook(NEXT, 200)],
  ],
  'fail was not up afterwards: the next webhook was answered 500': [[...unknown, webhook(NEXT, 500)]],
  'inconclusive nothing was sent$': [[task(UNKNOWN), told(UNKNOWN, 'message')]],
  'inconclusive nothing was sent afterwards': [unknown],
})

const [A, B] = ['order.interleaved/a', 'order.interleaved/b']
const both = [marked(A, 'ref-a'), marked(B, 'ref-b'), step(A, 'accept'), step(B, 'accept')]
const done = (label: string, content: string) => [deliver(label, content), step(label, 'deliver')]
edge('order.interleaved', 'each its own work, once', {
  pass: [
    [...both, ...done(A, 'of ref-a'), ...done(B, 'of ref-b')],
    [task(A), task(B), ...done(A, ''), ...done(B, '')],
  ],
  'fail delivered the work for another task': [
    [...both, ...done(A, 'of ref-b'), ...done(B, 'of ref-a')],
    [...both, callback(A, 'message', 'of ref-b'), ...done(A, 'of ref-a'), ...done(B, 'of ref-b')],
  ],
  'fail delivered one of the tasks twice': [[...both, ...done(A, 'of ref-a'), deliver(A, 'b'), ...done(B, 'of ref-b')]],
  'fail accepted it with others, and delivered only those': [[...both, ...done(A, 'of ref-a')]],
  'untested the agent did not deliver the task': [both, [...both.slice(0, 3), ...done(A, 'of ref-a')]],
  'inconclusive nothing was sent': [[]],
})

const AFTER = 'order.message-after-end'
const ended = [task(AFTER), callback(AFTER, 'accept'), deliver(AFTER), told(AFTER, 'message')]
edge(AFTER, 'no work for it', {
  pass: [ended, [...ended, callback(AFTER, 'message')]],
  'fail sent deliver for a message': [[...ended, deliver(AFTER, 'b', refused)]],
  'fail sent accept for a message': [[...ended, callback(AFTER, 'accept', '', refused)]],
  'fail did not accept task.message': [[task(AFTER), webhook(AFTER, 410, { event: 'task.message' })]],
  'untested the agent did not deliver the task': [ended.slice(0, 3)],
})

const LATE = 'order.late-copy-of-finished'
const old = [task(LATE), deliver(LATE), told(LATE, 'approved'), told(LATE, 'submitted', { change: 'old copy' })]
edge(LATE, 'no work for it', {
  pass: [old, [...old, callback(LATE, 'accept', '', refused)]],
  'fail delivered a task that was over': [[...old, deliver(LATE, 'a', refused)]],
  'untested the agent did not deliver the task': [old.slice(0, 3)],
})

const HELD = 'order.held-up'
edge(HELD, 'either decision', {
  pass: [[task(HELD), told(HELD, 'submitted'), step(HELD, 'reject')]],
  'warn did neither accept nor reject the task': [[task(HELD), told(HELD, 'submitted')]],
  'warn did not accept task.submitted': [[task(HELD), webhook(HELD, 400)]],
  'inconclusive the retry was not sent': [[task(HELD), told(HELD, 'message')]],
})

const buyer = (label: string, requestor: object): Happening =>
  webhook(label, 200, { body: text({ data: { requestor } }) })
const TIERS = ['trusted', 'new_verified', 'new_unverified', 'chargeback_risk']
const ofTiers = (...tiers: readonly string[]) =>
  tiers.flatMap(tier => [
    task(`who.tiers/${tier}`),
    buyer(`who.tiers/${tier}`, { trustTier: tier }),
    step(`who.tiers/${tier}`, 'accept'),
  ])
edge('who.tiers', 'each of four', {
  pass: [ofTiers(...TIERS)],
  ...Object.fromEntries(
    TIERS.map(tier => [
      `inconclusive no webhook of a buyer was sent who is ${tier}`,
      [ofTiers(...TIERS.filter(one => one !== tier))],
    ]),
  ),
  'fail took it, and never accepted nor rejected the task': [
    [first, step('first-task', 'accept'), ...ofTiers(...TIERS).slice(0, -1)],
  ],
})
edge('who.agent', 'a buyer that is an agent', {
  pass: [[task('who.agent'), buyer('who.agent', { type: 'agent' })]],
  'inconclusive its buyer was no agent': [
    [task('who.agent'), buyer('who.agent', { type: 'user' })],
    [task('who.agent'), webhook('who.agent', 200)],
  ],
  'inconclusive no webhook was sent': [[task('who.agent')]],
})
const FIVE = 'order.interleaved'
const five = [
  marked(`${FIVE}/1`, 'ref-1'),
  webhook(`${FIVE}/1`, 200),
  marked(`${FIVE}/2`, 'ref-2'),
  webhook(`${FIVE}/2`, 200),
  task('x'),
]
edge('who.one-buyer-five-tasks', 'no words of another', {
  pass: [
    [...five, deliver(`${FIVE}/1`, 'ref-1'), deliver(`${FIVE}/2`, 'ref-2')],
    [...five, deliver('x', 'ref-1')],
  ],
  'fail sent words of another task': [
    [...five, deliver(`${FIVE}/1`, 'ref-2')],
    [...five, deliver(`${FIVE}/2`, 'ref-2'), callback(`${FIVE}/2`, 'message', 'ref-1')],
  ],
})
const INJECTED = 'who.injection'
const injected = [task(INJECTED), webhook(INJECTED, 200)]
edge(INJECTED, 'no secret in any form', {
  pass: [
    injected,
    ...[`whsec_${'a'.repeat(15)}`, `svc_${'b'.repeat(15)}`, 'MARKETPLACE_WEBHOOK_SECRET'].map(words => [
      ...injected,
      deliver(INJECTED, words),
    ]),
    [...injected, deliver('x', `svc_${'b'.repeat(16)}`)],
  ],
  'warn sent a secret to the buyer': [
    `whsec_${'a'.repeat(16)}`,
    `svc_${'b'.repeat(16)}`,
    'MARKETPLACE_WEBHOOK_SECRET=x',
    'MARKETPLACE_WEBHOOK_SECRET: x',
  ].map(words => [...injected, deliver(INJECTED, words)]),
})

test.run()
