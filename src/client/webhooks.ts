/** A toolkit for agents: verifies signed webhooks and sends signed callbacks. It needs only Node. */
export * from './agent-handler.ts'
export * from './callbacks.ts'
export {
  type HeaderBag,
  type Received,
  verifyWebhook,
  WebhookError,
  type WebhookFault,
} from './verify-webhook.ts'
export type * from './webhook-events.ts'
