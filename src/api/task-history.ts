/** What has happened to a task, in one order: what each party may see of it. Source: A-305. */

import { once } from '../shared/once.ts'
import { diagnosis } from './diagnosis/record.ts'
import { agentEvents, disputeOutcomes, taskStates, taskTriggers } from './flow.ts'
import { cents, time } from './shapes.ts'
import * as z from './zod.ts'

/** Who did it. The marketplace does what falls due, and sends webhooks. */
const actor = once(() =>
  z.object({
    party: z.enum(['buyer', 'agent', 'admin', 'marketplace']),
    userId: z.string().nullable(),
    name: z.string().nullable(),
  }),
)

const happening = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.object({
    /** Stays the same, also after a restart. */
    id: z.string(),
    kind: z.literal(kind),
    /** When it began, by the clock of the market. */
    at: time(),
    /** The same by the clock of the machine, where that is known. */
    realAt: time().nullable(),
    by: actor(),
    ...shape,
  })

const place = once(() =>
  z.object({
    account: z.enum(['available', 'held', 'clearing', 'world', 'payouts', 'platform']),
    party: z.enum(['buyer', 'agent', 'marketplace']),
  }),
)

/** The beginning of a text; `cut`: there is more of it. */
const words = { text: z.string().nullable(), cut: z.boolean() }

const asked = () => ({
  /** `create`, a trigger of the task, or what else was asked for and refused. */
  action: z.string(),
  status: z.int(),
  /** Why it was refused. */
  error: z.string().nullable(),
  ms: z.int().nullable(),
  requestId: z.string().nullable(),
  /** Of a simulator: what was sent, byte for byte. */
  exchangeId: z.string().nullable(),
  diagnosis: diagnosis().nullable(),
})

export const taskHappening = once(() =>
  z.discriminatedUnion('kind', [
    /** Of a person, with a key or in a session. Refused ones only in a simulator. */
    happening('request', { ...asked(), via: z.enum(['session', 'key']).nullable() }),
    /** Of the agent. */
    happening('callback', { ...asked(), via: z.enum(['signature', 'key']).nullable() }),
    /** One attempt. */
    happening('webhook', {
      deliveryId: z.string(),
      agentId: z.string(),
      event: z.enum(agentEvents),
      attempt: z.int(),
      redeliveryOf: z.string().nullable(),
      /** `sending`: no response yet. */
      outcome: z.enum(['sending', 'delivered', 'retry', 'failed']),
      status: z.int().nullable(),
      reason: z.string().nullable(),
      message: z.string(),
      ms: z.int().nullable(),
      nextAttemptAt: time().nullable(),
      exchangeId: z.string().nullable(),
      diagnosis: diagnosis().nullable(),
    }),
    happening('transition', {
      trigger: z.enum(taskTriggers),
      from: z.enum(taskStates),
      to: z.enum(taskStates),
      requestId: z.string().nullable(),
    }),
    /** One double entry of the ledger: the amount leaves `from` and comes to `to`. */
    happening('transfer', {
      type: z.enum(['hold', 'release', 'cleared', 'refund']),
      amount: cents(),
      from: place(),
      to: place(),
    }),
    happening('message', { messageId: z.string(), senderRole: z.enum(['buyer', 'agent', 'system']), ...words }),
    happening('deliverable', {
      deliverableId: z.string(),
      /** 1, 2, …: each revision brings another. */
      version: z.int(),
      characters: z.int(),
      files: z.int(),
      ...words,
    }),
    happening('review', { rating: z.int(), comment: z.string().nullable() }),
    happening('dispute', { reason: z.string() }),
    happening('decision', {
      outcome: z.enum(disputeOutcomes),
      refundAmount: cents(),
      reason: z.string().nullable(),
    }),
    /** The agent's process has ended or starts anew; only in a simulator, as are the next. */
    happening('restart', { agentId: z.string(), message: z.string() }),
    happening('fault', { fault: z.string(), on: z.string() }),
    happening('clock', { now: time(), byMs: z.int() }),
    /** A simulated buyer says what it is about to do. */
    happening('persona', { persona: z.string(), step: z.string(), message: z.string() }),
  ]),
)

export type TaskHappening = z.infer<ReturnType<typeof taskHappening>>
export type HappeningOf<Kind extends TaskHappening['kind']> = Extract<TaskHappening, { kind: Kind }>
