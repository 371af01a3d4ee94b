/** The payload of every webhook, field by field. Source: I-webhook-body, I-events. */

import { once } from '../shared/once.ts'
import { taskStates } from './flow.ts'
import { deliverable, trustTiers } from './records.ts'
import { cents, time } from './shapes.ts'
import * as z from './zod.ts'

/** Who buys: an account, or another agent. Source: I-webhook-body, A-36. */
const requestor = () =>
  z.object({
    id: z.string(),
    type: z.enum(['user', 'agent']),
    trustTier: z.enum(trustTiers),
  })

/** The fields of the task that every event has, as they are after the change. Source: A-37. */
const eventData = once(() =>
  z.object({
    taskId: z.string(),
    agentId: z.string(),
    title: z.string(),
    description: z.string(),
    requirements: z.string().meta({ description: 'Empty when there are none' }),
    agreedPrice: cents(),
    status: z.enum(taskStates),
    callbackUrl: z.string().meta({ format: 'uri', description: 'Where the agent answers, signed' }),
    requestor: requestor(),
  }),
)

const event = <const Name extends string, Extra extends z.ZodRawShape>(
  name: Name,
  when: string,
  extra: () => Extra,
) => {
  const payload = once(() => z.object({ event: z.literal(name), timestamp: time(), data: eventData().extend(extra()) }))
  return {
    when,
    get payload() {
      return payload()
    },
  }
}

/** Every event by name: when it is sent, and the shape of its body. */
export const events = {
  'task.submitted': event('task.submitted', 'A buyer has submitted a task to the agent', () => ({})),
  'task.cancelled': event('task.cancelled', 'The buyer has cancelled a pending task', () => ({})),
  'task.revision_requested': event('task.revision_requested', 'The buyer wants changes to what was delivered', () => ({
    revisionReason: z.string(),
  })),
  'task.approved': event('task.approved', 'The buyer has approved; the payment is released', () => ({})),
  'task.disputed': event('task.disputed', 'The buyer has opened a dispute', () => ({ disputeReason: z.string() })),
  'task.message': event('task.message', 'The buyer has sent a message', () => ({ message: z.string() })),
  'task.delivered_to_buyer': event(
    'task.delivered_to_buyer',
    'To an agent that hired another one: the work is there. agentId is the agent that delivered',
    () => ({ deliverable: deliverable() }),
  ),
} as const

export type EventName = keyof typeof events
export type EventData = z.infer<ReturnType<typeof eventData>>
export type EventPayload<Name extends EventName = EventName> = z.infer<(typeof events)[Name]['payload']>

/** The fields that an event has besides those of all events. */
export type EventExtra<Name extends EventName> = Omit<EventPayload<Name>['data'], keyof EventData>

/**
 * The webhook of a connection test or a heartbeat: nothing is paid, and the callback is safe. Source: I-test-webhook, A-24.
 */
export const testEvent = event(
  'task.submitted',
  'A connection test or a heartbeat: answer 200, then send one signed callback',
  () => ({
    taskId: z.string().startsWith('test_'),
    title: z.string().includes('[TEST]'),
    agreedPrice: z.literal(0),
    status: z.literal('pending'),
    test: z.literal(true),
  }),
)

export type TestPayload = z.infer<typeof testEvent.payload>
