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
  const time = now() + (bug('clock-ten-minutes-off') ? 600_000 : bug('clock-two-minutes-off') ? 120_000 : 0)
  last = bug('time-in-whole-seconds') ? Math.floor(time / 1_000) * 1_000 : Math.max(time, last + 1)
  const timestamp = String(bug('time-in-seconds') ? Math.floor(last / 1_000) : last)
  const text = bug('signs-another-spelling') ? JSON.stringify(JSON.parse(body), null, 2) : body
  const digest = digestOf(key, `${timestamp}.`, text)
  return {
    'Content-Type': bug('no-content-type') ? 'text/plain' : 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': bug('digest-in-base64') ? Buffer.from(digest, 'hex').toString('base64') : digest,
  }
}
