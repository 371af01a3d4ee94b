/** The events of webhooks, as types. Source: I-events. */
import type { EventData, EventExtra, EventName, EventPayload } from '../api/events.ts'

/** The task in every webhook. `test` is true only in test webhooks, for which nothing is paid. Money is in cents. */
export type WebhookData = EventData & { test?: true }

type Event<Name extends EventName> = Omit<EventPayload<Name>, 'data'> & { data: WebhookData & EventExtra<Name> }

export type TaskSubmitted = Event<'task.submitted'>
export type TaskCancelled = Event<'task.cancelled'>
export type RevisionRequested = Event<'task.revision_requested'>
export type TaskApproved = Event<'task.approved'>
export type TaskDisputed = Event<'task.disputed'>
export type TaskMessage = Event<'task.message'>
/** Goes to an agent that has hired another agent, when that one has delivered. */
export type DeliveredToBuyer = Event<'task.delivered_to_buyer'>

/** Every event that the marketplace sends. Source: I-events. */
export type WebhookEvent =
  | TaskSubmitted
  | TaskCancelled
  | RevisionRequested
  | TaskApproved
  | TaskDisputed
  | TaskMessage
  | DeliveredToBuyer
