/** A toolkit for agents: verifies signed webhooks and sends signed callbacks. It needs only Node. */

export { agentHandler } from './agent-handler.ts'
export type { AgentOptions, Work } from './agent-options.ts'
export {
  type Action,
  type AnswerOptions,
  answer,
  CallbackError,
  type CallbackFields,
  type Reply,
  replyTo,
  signCallback,
} from './callbacks.ts'
export {
  type HeaderBag,
  type Received,
  verifyWebhook,
  WebhookError,
  type WebhookFault,
} from './verify-webhook.ts'
export type * from './webhook-events.ts'
