/** Verifies signed webhooks. It needs only Node. Source: I-signature. */
import { SIGNATURE_HEADER, type SignatureFault, TIMESTAMP_HEADER, toleranceInWords, verify } from '../api/signature.ts'
import type { WebhookEvent } from './webhook-events.ts'

/** `parsed_body`: the bytes are gone, because something has read or parsed the body before. */
export type WebhookFault = SignatureFault | 'malformed_body' | 'parsed_body'

/** A webhook that must not be trusted. Respond with 401, but with 500 to `parsed_body`, which is the agent's own fault. */
export class WebhookError extends Error {
  readonly reason: WebhookFault
  constructor(reason: WebhookFault) {
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

/** Verifies the signature of a webhook and returns its event. Throws a WebhookError; a TypeError if the secret can't be one. Source: I-signature. */
export function verifyWebhook({ body, headers, secret, now = Date.now() }: Received): WebhookEvent {
  const secrets = checkedSecrets(secret)
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new WebhookError('parsed_body')
  const timestamp = header(headers, TIMESTAMP_HEADER)
  const verdict = verify({ secret: secrets, timestamp, signature: header(headers, SIGNATURE_HEADER), body, now })
  if (!verdict.ok) throw new WebhookError(verdict.reason)
  const event = parsed(body)
  if (typeof event?.event !== 'string' || typeof event.data?.taskId !== 'string') {
    throw new WebhookError('malformed_body')
  }
  return event
}

/**
 * Returns the secrets. Throws a sentence if one can't be a secret: a wrong one would refuse every webhook, much later. The sentence
 * does not repeat it.
 */
export function checkedSecrets(secret: string | readonly string[]): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  if (secrets.length === 0) throw new TypeError(NO_SECRET)
  for (const one of secrets) {
    if (typeof one !== 'string' || one === '') throw new TypeError(NO_SECRET)
    if (/\s/.test(one))
      throw new TypeError('The webhook secret has white space in it: trim() what is read from a file.')
    if (!one.startsWith('whsec_')) throw new TypeError('A webhook secret begins with whsec_, without quotes around it.')
  }
  return secrets as readonly string[]
}

const NO_SECRET =
  'The webhook secret is missing: give `secret`, the whole whsec_… that `secret rotate` printed. Is its variable set in this process?'

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

const FAULTS: Record<WebhookFault, string> = {
  missing: `${SIGNATURE_HEADER} or ${TIMESTAMP_HEADER} is missing.`,
  malformed_timestamp: `${TIMESTAMP_HEADER} is not a unix time of 13 digits (ms).`,
  malformed_signature: `${SIGNATURE_HEADER} is not 64 lower-case hex digits.`,
  stale: `The webhook was signed more than ${toleranceInWords} ago.`,
  future: `The webhook was signed more than ${toleranceInWords} ahead of this clock.`,
  mismatch: 'The signature does not match the body and this secret.',
  malformed_body: 'The body is not a webhook event.',
  parsed_body:
    "The body was read or parsed before it was verified, so its bytes are gone: verify before express.json(), or use express.raw({ type: 'application/json' }).",
}
