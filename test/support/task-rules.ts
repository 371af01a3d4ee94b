/**
 * What may happen to a task, written by hand from the interface and the decisions: the tests' own copy of the rules, which
 * knows nothing of the product's table. Source: I-states, I-events, A-20, A-32, A-33.
 */

/** Every state a task can be in, with its dispute and the 48 hours after its completion where they make a difference. */
export const situations = [
  'draft',
  'pending',
  'in_progress',
  'in_progress, disputed',
  'delivered',
  'delivered, disputed',
  'completed',
  'completed, disputed',
  'completed 48 h ago',
  'completed 48 h ago, disputed in time',
  'completed by a resolution',
  'cancelled',
  'cancelled by a resolution',
] as const
export type Situation = (typeof situations)[number]

export type Person = 'buyer' | 'builder' | 'admin'

export const triggers = [
  'update',
  'submit',
  'cancel',
  'accept',
  'reject',
  'deliver',
  'approve',
  'request_revision',
  'dispute',
  'message',
  'review',
  'resolve_refund',
  'resolve_release',
  'resolve_split',
] as const
export type Trigger = (typeof triggers)[number]

/** Who may pull a trigger at all: everybody else is answered 403, whatever the state. */
export const rightful: Record<Trigger, readonly Person[]> = {
  update: ['buyer'],
  submit: ['buyer'],
  cancel: ['buyer'],
  accept: ['builder'],
  reject: ['builder'],
  deliver: ['builder'],
  approve: ['buyer'],
  request_revision: ['buyer'],
  dispute: ['buyer'],
  message: ['buyer', 'builder'],
  review: ['buyer'],
  resolve_refund: ['admin'],
  resolve_release: ['admin'],
  resolve_split: ['admin'],
}

/** The price of every task here, and what a split gives back of it, in cents. */
export const price = 1_000
export const splitRefund = 400

/** For so long after its completion a task can be disputed and its payment clears, in ms. */
export const window48h = 172_800_000

/** What each balance changes by, in cents. */
export type Deltas = Record<'buyer' | 'builder', { available: number; held: number; clearing: number }>

const still = { available: 0, held: 0, clearing: 0 }
const unmoved: Deltas = { buyer: still, builder: still }
const held: Deltas = { buyer: { available: -1_000, held: 1_000, clearing: 0 }, builder: still }
const refunded: Deltas = { buyer: { available: 1_000, held: -1_000, clearing: 0 }, builder: still }
const released: Deltas = {
  buyer: { available: 0, held: -1_000, clearing: 0 },
  builder: { available: 0, held: 0, clearing: 1_000 },
}
const paid: Deltas = {
  buyer: { available: 0, held: -1_000, clearing: 0 },
  builder: { available: 1_000, held: 0, clearing: 0 },
}
const split: Deltas = {
  buyer: { available: 400, held: -1_000, clearing: 0 },
  builder: { available: 600, held: 0, clearing: 0 },
}
const takenBack: Deltas = {
  buyer: { available: 1_000, held: 0, clearing: 0 },
  builder: { available: 0, held: 0, clearing: -1_000 },
}
const cleared: Deltas = { buyer: still, builder: { available: 1_000, held: 0, clearing: -1_000 } }
const takenBackInPart: Deltas = {
  buyer: { available: 400, held: 0, clearing: 0 },
  builder: { available: 600, held: 0, clearing: -1_000 },
}

export interface Step {
  from: Situation
  trigger: Trigger
  by: Person
  to: Situation
  money: Deltas
  event: string | null
}

const step = (
  from: Situation,
  trigger: Trigger,
  by: Person,
  to: Situation,
  money = unmoved,
  event: string | null = null,
): Step => ({ from, trigger, by, to, money, event })

/** What an administrator may decide, and whom each decision pays. */
const resolutions = (from: Situation, refund: Deltas, release: Deltas, part: Deltas): Step[] => [
  step(from, 'resolve_refund', 'admin', 'cancelled by a resolution', refund),
  step(from, 'resolve_release', 'admin', 'completed by a resolution', release),
  step(from, 'resolve_split', 'admin', 'completed by a resolution', part),
]

const beforeApproval = ['in_progress', 'in_progress, disputed', 'delivered', 'delivered, disputed'] as const
const disputedAfterApproval = ['completed, disputed', 'completed 48 h ago, disputed in time'] as const
const withoutMessages: readonly Situation[] = ['draft', 'cancelled', 'cancelled by a resolution']

/** All that can succeed. Whatever is not here is refused and leaves no trace. */
export const steps: readonly Step[] = [
  step('draft', 'update', 'buyer', 'draft'),
  step('draft', 'submit', 'buyer', 'pending', held, 'task.submitted'),
  step('draft', 'cancel', 'buyer', 'cancelled'),

  step('pending', 'cancel', 'buyer', 'cancelled', refunded, 'task.cancelled'),
  step('pending', 'accept', 'builder', 'in_progress'),
  step('pending', 'reject', 'builder', 'cancelled', refunded),

  step('in_progress', 'deliver', 'builder', 'delivered'),
  step('in_progress', 'dispute', 'buyer', 'in_progress, disputed', unmoved, 'task.disputed'),

  step('delivered', 'approve', 'buyer', 'completed', released, 'task.approved'),
  step('delivered', 'request_revision', 'buyer', 'in_progress', unmoved, 'task.revision_requested'),
  step('delivered', 'dispute', 'buyer', 'delivered, disputed', unmoved, 'task.disputed'),

  step('completed', 'dispute', 'buyer', 'completed, disputed', unmoved, 'task.disputed'),

  ...beforeApproval.flatMap(from => resolutions(from, refunded, paid, split)),
  ...disputedAfterApproval.flatMap(from => resolutions(from, takenBack, cleared, takenBackInPart)),

  ...situations.flatMap(at => [
    ...(withoutMessages.includes(at)
      ? []
      : [step(at, 'message', 'buyer', at, unmoved, 'task.message'), step(at, 'message', 'builder', at)]),
    ...(at.startsWith('completed') ? [step(at, 'review', 'buyer', at)] : []),
  ]),
]

export const stepOf = (from: Situation, trigger: Trigger, by: Person): Step | undefined =>
  steps.find(one => one.from === from && one.trigger === trigger && one.by === by)

/** What the record of a task shows of when each thing happened to it. */
export const moments = ['submittedAt', 'acceptedAt', 'deliveredAt', 'completedAt', 'cancelledAt'] as const

const momentOf: Partial<Record<Trigger, (typeof moments)[number]>> = {
  submit: 'submittedAt',
  accept: 'acceptedAt',
  deliver: 'deliveredAt',
  approve: 'completedAt',
  cancel: 'cancelledAt',
  reject: 'cancelledAt',
  resolve_refund: 'cancelledAt',
  resolve_release: 'completedAt',
  resolve_split: 'completedAt',
}

/** The moment that a step writes. A step that leaves the state as it was writes none. */
export const momentSetBy = ({ from, trigger, to }: Step): (typeof moments)[number] | undefined =>
  shown(from).status === shown(to).status ? undefined : momentOf[trigger]

/** What the record of a task shows of its situation. */
export const shown = (situation: Situation) => ({
  status: /^[a-z_]+/.exec(situation)![0],
  dispute: situation.includes('disputed') ? 'open' : situation.includes('resolution') ? 'resolved' : null,
})
