/** Signing and verifying as pure functions of secret, time and bytes. Source: I-signature, A-37, A-38. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { durations } from './limits.ts'
import { inMinutes } from './spans.ts'

/** How far a timestamp may lie from now; exactly this far still passes. Source: I-signature. */
const TOLERANCE_MS = durations.signatureToleranceMs
export const toleranceInWords = inMinutes(TOLERANCE_MS)

export const SIGNATURE_HEADER = 'X-Service-Signature'
export const TIMESTAMP_HEADER = 'X-Service-Timestamp'

/** Why a signature is refused. Each gets a 401. */
export type SignatureFault = 'missing' | 'malformed_timestamp' | 'malformed_signature' | 'stale' | 'future' | 'mismatch'

const faultWords: Record<SignatureFault, string> = {
  missing: 'the signature or its timestamp is missing',
  malformed_timestamp: 'the timestamp is not unix time in 13 digits of milliseconds',
  malformed_signature: 'the signature is not 64 lower-case hex digits',
  stale: `the timestamp is more than ${toleranceInWords} old`,
  future: `the timestamp is more than ${toleranceInWords} ahead`,
  mismatch: 'the signature does not match the body and the secret',
}

/** Returns in words what is wrong with a signature. */
export const faultText = (fault: string): string => faultWords[fault as SignatureFault] ?? fault

export type Verdict = { ok: true } | { ok: false; reason: SignatureFault }

/**
 * A header as node:http passes it. A list means that the header was sent twice, and is refused.
 * @internal Tests send headers that are no text.
 */
export type HeaderValue = string | readonly string[] | undefined

export interface ToVerify {
  /** The whole `whsec_…` string, or several of them while an old secret is still honoured. Source: A-25. */
  secret: string | readonly string[]
  timestamp: HeaderValue
  signature: HeaderValue
  /** The raw bytes as they arrived, before any parsing. */
  body: string | Uint8Array
  /** Real time in ms. */
  now: number
}

// Without these patterns, Number() and Buffer.from() would accept NaN, '1.7e12', upper case and trailing garbage.
const TIMESTAMP = /^[0-9]{13}$/
const DIGEST = /^[0-9a-f]{64}$/

/**
 * HMAC-SHA256 over `timestamp.body` as lower-case hex, keyed with the whole secret string. `timestampMs` in unix ms.
 * @internal Tests sign what no toolkit would.
 */
export function sign(secret: string, timestampMs: number, rawBody: string | Uint8Array): string {
  return hmac(secret, String(timestampMs), rawBody).digest('hex')
}

/** The two signature headers of one request made at `timestampMs`. */
export function signatureHeaders(secret: string, timestampMs: number, rawBody: string | Uint8Array) {
  return { [TIMESTAMP_HEADER]: String(timestampMs), [SIGNATURE_HEADER]: sign(secret, timestampMs, rawBody) }
}

/** Verifies one signed request. Never throws. The time it takes does not depend on which secret matches. Source: A-38. */
export function verify({ secret, timestamp, signature, body, now }: ToVerify): Verdict {
  if (!timestamp || !signature) return refuse('missing')
  if (typeof timestamp !== 'string' || !TIMESTAMP.test(timestamp)) return refuse('malformed_timestamp')
  if (typeof signature !== 'string' || !DIGEST.test(signature)) return refuse('malformed_signature')
  const age = now - Number(timestamp)
  if (age > TOLERANCE_MS) return refuse('stale')
  // The comparison also refuses a `now` that is not a number.
  if (!(age >= -TOLERANCE_MS)) return refuse('future')
  return matches(typeof secret === 'string' ? [secret] : secret, timestamp, signature, body)
    ? { ok: true }
    : refuse('mismatch')
}

/**
 * The Standard Webhooks headers: HMAC-SHA256 over `id.seconds.body`, keyed with the decoded bytes of `whsec_<base64>`.
 * `timestampMs` in unix ms; the header carries whole seconds. Source: A-37.
 */
export function standardHeaders(secret: string, id: string, timestampMs: number, rawBody: string | Uint8Array) {
  const seconds = String(Math.floor(timestampMs / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = hmac(key, `${id}.${seconds}`, rawBody).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` }
}

function matches(secrets: readonly string[], timestamp: string, signature: string, body: string | Uint8Array): boolean {
  const given = Buffer.from(signature, 'hex')
  let found = false
  // Without a secret one digest is computed too, so that this case takes as long as a wrong signature.
  for (const secret of secrets.length > 0 ? secrets : ['']) {
    const equal = timingSafeEqual(given, hmac(secret, timestamp, body).digest())
    found = (equal && secret !== '') || found
  }
  return found
}

function hmac(key: string | Uint8Array, head: string, body: string | Uint8Array) {
  const made = createHmac('sha256', key)
  return typeof body === 'string' ? made.update(`${head}.${body}`) : made.update(`${head}.`).update(body)
}

function refuse(reason: SignatureFault): Verdict {
  return { ok: false, reason }
}
