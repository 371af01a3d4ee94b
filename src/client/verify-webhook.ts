/** Verifies signed webhooks. It needs only Node. Source: I-signature. */
import { SIGNATURE_HEADER, type SignatureFault, TIMESTAMP_HEADER, toleranceInWords, verify } from '../api/signature.ts'
import type { WebhookEvent } from './webhook-events.ts'

/** A webhook that must not be trusted. Respond with 401. */
export class WebhookError extends Error {
  readonly reason: SignatureFault | 'malformed_body'
  constructor(reason: SignatureFault | 'malformed_body') {
    super(FAULTS[reason])
    this.name = 'WebhookError'
    this.reason = reason
  }
}

/** The headers of a request, from fetch or from node:http. */
export type HeaderBag = Headers | Readonly<Record<string, string | string[] | undefined>>

export interface Received {
  /** The body exactly as it arrived. Don't parse and serialize it again: the signature covers its bytes. */
  body: string | Buffer
  headers: HeaderBag
  /** The whole `whsec_…`, or several while one is being replaced. */
  secret: string | readonly string[]
  /** The current time in Unix ms; the machine's clock unless given. A signature may be 5 minutes off. */
  now?: number
}

/** Verifies the signature of a webhook and returns its event. Throws a WebhookError. Source: I-signature. */
export function verifyWebhook({ body, headers, secret, now = Date.now() }: Received): WebhookEvent {
  const timestamp = header(headers, TIMESTAMP_HEADER)
  const verdict = verify({ secret, timestamp, signature: header(headers, SIGNATURE_HEADER), body, now })
  if (!verdict.ok) throw new WebhookError(verdict.reason)
  const event = parsed(body)
  if (typeof event?.event !== 'string' || typeof event.data?.taskId !== 'string') {
    throw new WebhookError('malformed_body')
  }
  return event
}

function header(headers: HeaderBag, name: string): string | string[] | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const wanted = name.toLowerCase()
  if (headers[wanted] !== undefined) return headers[wanted]
  for (const [key, value] of Object.entries(headers)) if (key.toLowerCase() === wanted) return value
  return undefined
}

function parsed(body: string | Buffer): WebhookEvent | undefined {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

const FAULTS: Record<SignatureFault | 'malformed_body', string> = {
  missing: `${SIGNATURE_HEADER} or ${TIMESTAMP_HEADER} is missing.`,
  malformed_timestamp: `${TIMESTAMP_HEADER} is not a unix time of 13 digits (ms).`,
  malformed_signature: `${SIGNATURE_HEADER} is not 64 lower-case hex digits.`,
  stale: `The webhook was signed more than ${toleranceInWords} ago.`,
  future: `The webhook was signed more than ${toleranceInWords} ahead of this clock.`,
  mismatch: 'The signature does not match the body and this secret.',
  malformed_body: 'The body is not a webhook event.',
}
