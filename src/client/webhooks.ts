/** A toolkit for agents: verifies signed webhooks and sends signed callbacks. It needs only Node. */
export * from './agent-handler.ts'
export * from './callbacks.ts'
export * from './verify-webhook.ts'
export type * from './webhook-events.ts'
