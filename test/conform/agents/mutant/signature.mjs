// Signatures, in both directions: HMAC-SHA256 over the timestamp, a dot and the raw bytes, with the whole secret as the key.
import { createHmac } from 'node:crypto'
import { bug, style } from './switches.mjs'

export const secret = process.env.MARKETPLACE_WEBHOOK_SECRET
if (!secret) throw new Error('MARKETPLACE_WEBHOOK_SECRET is not set')

export const key = bug('decodes-the-secret') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
export const digestOf = (key, head, body) => createHmac('sha256', key).update(head).update(body).digest('hex')

/** Its clock. */
export const now = () => Date.now() + (style('clock-90-s-off') ? 90_000 : 0)

let last = 0

/** The headers of a callback. No two have the same time, and so no two the same signature. */
export function signed(body) {
  last = Math.max(now(), last + 1)
  const timestamp = String(last)
  return {
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': digestOf(key, `${timestamp}.`, body),
  }
}
