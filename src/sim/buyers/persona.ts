/**
 * What a character of a simulated buyer is: a record of pure decisions, which say what it asks for, what it does next with its task, and
 * when. Whoever plays it does the rest. Source: A-256.
 */
import type { FailureName } from '../../api/failures.ts'
import { type DisputeOutcome, disputeOutcomes, type TaskState } from '../../api/flow.ts'
import type { TaskRecord } from '../../api/records.ts'
import type { EarlyTier } from '../accounts.ts'

/** Returns the same number in [0, 1) whenever it is asked of the same thing in the life of one task. */
export type Draw = (of: string) => number

export type Step =
  | { does: 'approve'; rating: number; comment: string }
  | { does: 'revise'; reason: string }
  | { does: 'cancel' }
  | { does: 'dispute'; reason: string }
  /** The administrator does it. */
  | { does: 'resolve'; outcome: DisputeOutcome }
  /** Begins another task. */
  | { does: 'hire' }
  /** Does nothing more with this task. */
  | { does: 'rest' }

/** What it knows to be forbidden and does all the same. The refusal is part of its story. */
interface Attempt {
  readonly step: Step
  readonly refusal: FailureName
}

export interface PlannedStep {
  readonly step: Step
  /** Domain time in ms. */
  readonly at: number
  /** What it tries before. */
  readonly tries?: readonly Attempt[]
  /** Messages that follow at once. */
  readonly says?: readonly string[]
}

/**
 * `waits`: for the agent. `ended`: it does nothing more with this task.
 * @internal Tests look at the plans of each character.
 */
export type Plan = PlannedStep | 'waits' | 'ended'

interface Brief {
  title: string
  description: string
  requirements?: string
}

export type Decision = (task: TaskRecord, draw: Draw) => Plan

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
  /** Messages that follow at once when it has submitted. */
  asks(draw: Draw): readonly string[]
  /** How many tasks come together, from one address. Rate limits count them. */
  readonly atOnce: number
  /** What the administrator does to its account as soon as a task is submitted. It is lifted when it hires again. */
  readonly becomes: 'suspended' | 'banned' | null
  /** An agent of its own hires, by an authorization for just the price. Returns whether it asks for a cent more first. */
  readonly overspends: ((draw: Draw) => boolean) | null
  /** What it does next. The task says all that it has to know, so nothing is kept but the task. */
  plan: Decision
}

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

export const among = <Value>(values: readonly Value[], share: number): Value =>
  values[Math.floor(share * values.length)]!
const within = (share: number, from: number, to: number) => Math.floor(from + share * (to - from))

/** Some time after a moment of the task. */
export const later = (moment: string | null, share: number, from: number, to: number) =>
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

export function approvesWith(worst: number, best: number) {
  return ({ deliveredAt }: TaskRecord, draw: Draw): PlannedStep => ({
    step: {
      does: 'approve',
      rating: within(draw('rating'), worst, best + 1),
      comment: 'Written by a simulated buyer.',
    },
    at: later(deliveredAt, draw('approval'), 5 * SECOND, 30 * SECOND),
  })
}

/** A simulated administrator decides each way equally often. */
const decides: Decision = ({ dispute }, draw) => ({
  step: { does: 'resolve', outcome: among(disputeOutcomes, draw('outcome')) },
  at: later(dispute!.openedAt, draw('decision'), MINUTE, 3 * MINUTE),
})

type Character = Pick<Persona, 'name' | 'does'> &
  Partial<Omit<Persona, 'name' | 'does' | 'plan'>> & { on: Partial<Record<TaskState, Decision>> }

export const persona = ({ on, ...character }: Character): Persona => ({
  tier: 'new_verified',
  everyMs: MINUTE,
  brief: draw => among(briefs, draw('brief')),
  offer: basePrice => basePrice,
  asks: () => [],
  atOnce: 1,
  becomes: null,
  overspends: null,
  ...character,
  plan(task, draw) {
    if (task.dispute?.status === 'open') return decides(task, draw)
    return (on[task.status] ?? usual[task.status])(task, draw)
  },
})
