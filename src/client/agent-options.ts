/** What an agent is made of. */
import type { IncomingMessage } from 'node:http'
import type { AnswerOptions, Reply } from './callbacks.ts'
import type { WebhookError } from './verify-webhook.ts'
import type {
  DeliveredToBuyer,
  RevisionRequested,
  TaskApproved,
  TaskCancelled,
  TaskDisputed,
  TaskMessage,
  TaskSubmitted,
  WebhookEvent,
} from './webhook-events.ts'

export type Work<E> = (event: E, reply: Reply) => unknown

export interface AgentOptions extends AnswerOptions {
  /** The whole `whsec_…`, or several while one is being replaced. The first signs the callbacks. */
  secret: string | readonly string[]
  /** A buyer has submitted a task. Accept it and deliver, or reject it. */
  onTask: Work<TaskSubmitted>
  onRevision?: Work<RevisionRequested>
  onMessage?: Work<TaskMessage>
  onApproved?: Work<TaskApproved>
  onCancelled?: Work<TaskCancelled>
  onDisputed?: Work<TaskDisputed>
  onDelivered?: Work<DeliveredToBuyer>
  /** A test webhook. Unless given, it is accepted, which passes the test. */
  onTest?: Work<WebhookEvent>
  /** Called with each webhook that is refused. Unless given, a line goes to stderr. */
  onRefused?: (error: WebhookError, request: IncomingMessage) => void
  /**
   * A file, such as `agent.journal`, that keeps what was answered 200 until it is done: an agent that was killed goes on with it when it is made
   * again, and knows what it has done. One process at a time has it. Unless given, both are lost with the process. An event is done when its
   * function has ended, or the marketplace has refused a callback of it with another 4xx than 401, 408 and 429. It is begun ten times at most.
   */
  journal?: string
  /**
   * Called with an error of the work, after the response was sent, and with one of the journal, which has no room or was removed. Unless given,
   * errors go to stderr.
   */
  onError?: (error: unknown, event: WebhookEvent) => void
}
