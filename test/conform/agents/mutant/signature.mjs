// Signatures, in both directions: HMAC-SHA256 over the timestamp, a dot and the raw bytes, with the whole secret as the key.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { bug } from './switches.mjs'

const FIVE_MINUTES = 300_000
const secret = process.env.MARKETPLACE_WEBHOOK_SECRET
if (!secret) throw new Error('MARKETPLACE_WEBHOOK_SECRET is not set')

const key = bug('decodes-the-secret') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
const digestOf = (timestamp, body) => createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')

/** Whether the marketplace has signed these very bytes, and has done so just now. */
export function isGenuine(headers, body) {
  const timestamp = headers['x-service-timestamp'] ?? ''
  const signature = headers['x-service-signature'] ?? ''
  if (bug('no-verification')) return true
  if (bug('verifies-only-if-signed') && !signature) return true
  if (!/^\d{13}$/.test(timestamp)) return false
  if (Math.abs(Date.now() - Number(timestamp)) > (bug('no-skew-check') ? Infinity : FIVE_MINUTES)) return false
  const expected = digestOf(timestamp, body)
  return /^[0-9a-f]{64}$/.test(signature) && timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
}

let last = 0

/** The headers of a callback. No two have the same time, and so no two the same signature. */
export function signed(body) {
  last = Math.max(Date.now(), last + 1)
  const timestamp = String(last)
  return {
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': digestOf(timestamp, body),
  }
}
