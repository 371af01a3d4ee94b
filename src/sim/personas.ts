/**
 * Characters of simulated buyers. A persona is a record of pure decisions: what it asks for, and what it does next with its
 * task, and when. Whoever plays it does the rest. Source: A-256.
 */
import type { TaskState } from '../api/flow.ts'
import { durations, limits } from '../api/limits.ts'
import { disputeOutcomes, type TaskRecord } from '../api/records.ts'
import type { EarlyTier } from './accounts.ts'

/** Returns the same number in [0, 1) whenever it is asked of the same thing in the life of one task. */
export type Draw = (of: string) => number

export type Step =
  | { does: 'approve'; rating: number; comment: string }
  | { does: 'revise'; reason: string }
  | { does: 'cancel' }
  | { does: 'dispute'; reason: string }
  /** The administrator does it. */
  | { does: 'resolve'; outcome: (typeof disputeOutcomes)[number] }

/** `at`: domain time in ms. `waits`: for the agent. `ended`: it does nothing more with this task. */
export type Plan = { step: Step; at: number } | 'waits' | 'ended'

interface Brief {
  title: string
  description: string
  requirements?: string
}

type Decision = (task: TaskRecord, draw: Draw) => Plan

export interface Persona {
  readonly name: string
  /** In words, for help and documents. */
  readonly does: string
  readonly tier: EarlyTier
  /** How long after it has hired an agent it hires that again, if the task has ended by then. Domain time. */
  readonly everyMs: number
  brief(draw: Draw): Brief
  /** What it offers for work that costs `basePrice`, in cents. */
  offer(basePrice: number): number
  /** What it does next. The task says all that it has to know, so nothing is kept but the task. */
  plan: Decision
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const among = <Value>(values: readonly Value[], share: number): Value => values[Math.floor(share * values.length)]!
const within = (share: number, from: number, to: number) => Math.floor(from + share * (to - from))

/** Some time after a moment of the task. */
const later = (moment: string | null, share: number, from: number, to: number) =>
  Date.parse(moment ?? '') + within(share, from, to)

const briefs: readonly Brief[] = [
  {
    title: 'A notice for the village fair',
    description:
      'Please write a notice for the village fair on Saturday: friendly, short, with the time and the place.',
  },
  {
    title: 'Names for a bakery',
    description: 'We open a bakery by the harbour in spring. Suggest five names, each with one line that says why.',
  },
  {
    title: 'Sort the letters of March',
    description:
      'Forty letters lie in one heap. Say how you would sort them by sender and day, and which to answer first.',
  },
  {
    title: 'A recipe for twelve',
    description: 'A soup for twelve guests, without meat, with what a garden has in autumn. Amounts in grams, please.',
  },
]

/** How long it waits for an agent that does not accept, or accepts and does not deliver. */
const patience = { pendingMs: HOUR, workMs: 24 * HOUR }

/** What a buyer does where its character says nothing else. */
const usual: Readonly<Record<TaskState, Decision>> = {
  // It could not be submitted.
  draft: ({ createdAt }) => ({ step: { does: 'cancel' }, at: Date.parse(createdAt) }),
  pending: ({ submittedAt }) => ({
    step: { does: 'cancel' },
    at: later(submittedAt, 0, patience.pendingMs, patience.pendingMs),
  }),
  in_progress: ({ updatedAt }) => ({
    step: { does: 'dispute', reason: 'It was accepted a day ago, and nothing was delivered since.' },
    at: later(updatedAt, 0, patience.workMs, patience.workMs),
  }),
  delivered: approvesWith(4, 5),
  completed: () => 'ended',
  cancelled: () => 'ended',
}

function approvesWith(worst: number, best: number) {
  return ({ deliveredAt }: TaskRecord, draw: Draw): Exclude<Plan, string> => ({
    step: {
      does: 'approve',
      rating: within(draw('rating'), worst, best + 1),
      comment: 'Written by a simulated buyer.',
    },
    at: later(deliveredAt, draw('approval'), 5 * SECOND, 30 * SECOND),
  })
}

/** A simulated administrator decides each way as often. */
const decides: Decision = ({ dispute }, draw) => ({
  step: { does: 'resolve', outcome: among(disputeOutcomes, draw('outcome')) },
  at: later(dispute!.openedAt, draw('decision'), MINUTE, 3 * MINUTE),
})

type Character = Pick<Persona, 'name' | 'does'> &
  Partial<Pick<Persona, 'tier' | 'brief' | 'offer'>> & { on: Partial<Record<TaskState, Decision>> }

const persona = ({ on, ...character }: Character): Persona => ({
  tier: 'new_verified',
  everyMs: MINUTE,
  brief: draw => among(briefs, draw('brief')),
  offer: basePrice => basePrice,
  ...character,
  plan(task, draw) {
    if (task.dispute?.status === 'open') return decides(task, draw)
    return (on[task.status] ?? usual[task.status])(task, draw)
  },
})

const nothing: Decision = () => 'waits'
const complaints = [
  'This is not what was asked for, and half of it is missing.',
  'It reads as if nobody had looked at the description.',
  'The same work was delivered to somebody else before.',
]
const wishes = [
  'Good so far. Please make it half as long, and begin with the date.',
  'Nearly. The tone should be warmer, and the second part needs an example.',
  'Please check the numbers once more, and say where they come from.',
]

export const personas: readonly Persona[] = [
  persona({ name: 'easy', does: 'approves what is delivered, with 4 or 5 of 5', on: {} }),
  persona({
    name: 'picky',
    does: 'asks for one revision, then approves with 3 or 4',
    on: {
      delivered(task, draw) {
        const { revisionCount, maxRevisions, deliveredAt } = task
        if (revisionCount > 0 || maxRevisions === 0) return approvesWith(3, 4)(task, draw)
        const at = later(deliveredAt, draw('revision'), 10 * SECOND, MINUTE)
        return { step: { does: 'revise', reason: among(wishes, draw('wish')) }, at }
      },
    },
  }),
  persona({
    name: 'ghost',
    does: 'never comes back: hires each agent once, and its money stays held',
    on: { pending: nothing, in_progress: nothing, delivered: nothing },
  }),
  persona({
    name: 'fickle',
    does: 'cancels at once; where the agent was faster, approves with 2 or 3',
    on: {
      pending: ({ submittedAt }, draw) => ({
        step: { does: 'cancel' },
        at: later(submittedAt, draw('cancel'), 0, 50),
      }),
      delivered: approvesWith(2, 3),
    },
  }),
  persona({
    name: 'quarrelsome',
    does: 'disputes what is delivered; the administrator decides within minutes',
    on: {
      delivered: ({ deliveredAt }, draw) => ({
        step: { does: 'dispute', reason: among(complaints, draw('complaint')) },
        at: later(deliveredAt, draw('dispute'), 30 * SECOND, 2 * MINUTE),
      }),
    },
  }),
  persona({
    name: 'slow',
    does: 'looks at the work a day later, and approves it with 4 or 5',
    on: {
      delivered: (task, draw) => ({
        ...approvesWith(4, 5)(task, draw),
        at: later(task.deliveredAt, draw('look'), 20 * HOUR, 30 * HOUR),
      }),
    },
  }),
  persona({
    name: 'never-pleased',
    does: 'sends the work back as often as it may, three times at most, and disputes it then',
    on: {
      delivered({ revisionCount, maxRevisions, deliveredAt }, draw) {
        const at = later(deliveredAt, draw(`look ${revisionCount}`), MINUTE, HOUR)
        if (revisionCount < Math.min(MOST_WISHES, maxRevisions ?? MOST_WISHES))
          return { step: { does: 'revise', reason: among(wishes, draw(`wish ${revisionCount}`)) }, at }
        return { step: { does: 'dispute', reason: among(complaints, draw('complaint')) }, at }
      },
    },
  }),
  persona({
    name: 'regretful',
    does: 'approves, and disputes it in the last minute in which that is possible',
    on: {
      completed({ completedAt, dispute, deliveredAt }, draw) {
        if (dispute || deliveredAt === null) return 'ended'
        const at = later(completedAt, 0, durations.disputeWindowMs - MINUTE, durations.disputeWindowMs - MINUTE)
        return { step: { does: 'dispute', reason: among(complaints, draw('complaint')) }, at }
      },
    },
  }),
  persona({
    name: 'bargainer',
    does: 'offers the least that a task may cost, whatever the price; approves with 3 to 5',
    offer: () => limits.price.min,
    on: { delivered: approvesWith(3, 5) },
  }),
  persona({
    name: 'verbose',
    does: 'writes the longest texts there may be, with signs of every kind; approves with 4 or 5',
    brief: () => ({
      title: longest('A long story: ', limits.task.title[1] - NUMBER),
      description: longest('Umlaut ü, 漢字, 👩‍👩‍👧, <b>bold</b>, $(id), {{7*7}}.\n', limits.task.description[1]),
      requirements: longest('In “quotes”, with a \\ and a \t. ', limits.task.requirements[1]),
    }),
    on: {},
  }),
  persona({
    name: 'risky',
    does: 'has charged money back before; pays for this work, and approves with 4 or 5',
    tier: 'chargeback_risk',
    on: {},
  }),
]

const MOST_WISHES = 3
/** Room for the number of the task behind its title. */
const NUMBER = 20

/** Repeats a text up to a length in characters. */
function longest(text: string, most: number): string {
  const characters = [...text]
  return Array.from({ length: most }, (_, at) => characters[at % characters.length])
    .join('')
    .trim()
}
