// Signatures, in both directions: HMAC-SHA256 over the timestamp, a dot and the raw bytes, with the whole secret as the key.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { bug, style } from './switches.mjs'

const TOLERANCE_MS = bug('no-skew-check') ? Infinity : style('tolerance-2-min') ? 120_000 : 300_000
const secret = process.env.MARKETPLACE_WEBHOOK_SECRET
if (!secret) throw new Error('MARKETPLACE_WEBHOOK_SECRET is not set')

const key = bug('decodes-the-secret') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
const digestOf = (timestamp, body) => createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')

/** Its clock. */
const now = () => Date.now() + (style('clock-90-s-off') ? 90_000 : 0)

/** Whether the marketplace has signed these very bytes, and has done so just now. */
export function isGenuine(headers, body) {
  if (style('standard-webhooks')) return isStandard(headers, body)
  const timestamp = headers['x-service-timestamp'] ?? ''
  const signature = headers['x-service-signature'] ?? ''
  if (bug('no-verification')) return true
  if (bug('verifies-only-if-signed') && !signature) return true
  if (!/^\d{13}$/.test(timestamp)) return false
  if (Math.abs(now() - Number(timestamp)) > TOLERANCE_MS) return false
  const expected = digestOf(timestamp, body)
  return /^[0-9a-f]{64}$/.test(signature) && timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
}

/** By the other set of headers, for which there are libraries. */
function isStandard(headers, body) {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signatures = '' } = headers
  if (!/^\d{10}$/.test(timestamp) || Math.abs(now() / 1000 - Number(timestamp)) > TOLERANCE_MS / 1000) return false
  const standardKey = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', standardKey).update(`${id}.${timestamp}.`).update(body).digest('base64')
  const isRight = one =>
    /^v1,[A-Za-z0-9+/]{43}=$/.test(one) && timingSafeEqual(Buffer.from(one.slice(3)), Buffer.from(expected))
  return signatures.split(' ').some(isRight)
}

let last = 0

/** The headers of a callback. No two have the same time, and so no two the same signature. */
export function signed(body) {
  last = Math.max(now(), last + 1)
  const timestamp = String(last)
  return {
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': digestOf(timestamp, body),
  }
}
