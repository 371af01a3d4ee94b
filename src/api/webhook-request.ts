/** How a webhook looks on the wire: the one encoder for all that send any. Source: I-webhook-request, I-webhook-body, A-37. */
import { signatureHeaders, standardHeaders } from './signature.ts'

/** Without a version, so that a firewall's rule outlives an upgrade. */
const WEBHOOK_AGENT = 'agent-marketplace-webhooks'

/** An event before it is encoded. `timestamp`: ISO 8601. */
export interface WebhookContent {
  event: string
  timestamp: string
  data: object
}

export const webhookBody = ({ event, timestamp, data }: WebhookContent): string =>
  JSON.stringify({ event, timestamp, data })

/** One attempt at a delivery. */
export interface WebhookAttempt {
  deliveryId: string
  /** From 1. */
  attempt: number
  /** Unix ms of real time. */
  sentAt: number
  body: string
}

/** The headers of one attempt, signed with the whole `whsec_…`. */
export function webhookHeaders(secret: string, { deliveryId, attempt, sentAt, body }: WebhookAttempt) {
  return {
    'content-type': 'application/json',
    'user-agent': WEBHOOK_AGENT,
    ...signatureHeaders(secret, sentAt, body),
    ...standardHeaders(secret, deliveryId, sentAt, body),
    'X-Service-Delivery-Id': deliveryId,
    'X-Service-Attempt': String(attempt),
  }
}
