// Callbacks: signed, and repeated with the same bytes until an answer is heard, but not for ever.
import { setTimeout as pause } from 'node:timers/promises'
import { byKey } from './by-key.mjs'
import { signed } from './signature.mjs'
import { style } from './switches.mjs'

const MOST_ATTEMPTS = 7
const MOST_REFUSED = 3
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 120_000
/** After five minutes a signature is too old. */
const SAME_BYTES_MS = 240_000

/** Sends a callback about the task. Returns whether the marketplace has taken it. `wanted`: whether it is still worth sending. */
export async function callback({ taskId, callbackUrl }, fields, wanted = () => true) {
  if (style('by-key')) return byKey(taskId, fields)
  const body = JSON.stringify({ ...fields, taskId })
  let headers = signed(body)
  let signedAt = Date.now()
  let refused = 0
  for (let attempt = 0; attempt < MOST_ATTEMPTS && wanted(); attempt += 1) {
    const answer = await post(callbackUrl, headers, body)
    if (style('sends-twice')) await post(callbackUrl, headers, body)
    if (style('signs-anew')) await post(callbackUrl, signed(body), body)
    if (answer?.ok) return true
    // A 401 may come from bytes that were changed on the way. A wrong secret stays wrong.
    if (answer?.status === 401 && ++refused === MOST_REFUSED) return false
    if (answer && !isPassing(answer.status)) return false
    await pause(Math.max(FIRST_PAUSE_MS * 2 ** attempt, retryAfter(answer)))
    if (answer?.status === 401 || Date.now() - signedAt > SAME_BYTES_MS) {
      headers = signed(body)
      signedAt = Date.now()
    }
  }
  return false
}

/** Returns null if no answer came. */
async function post(url, headers, body) {
  try {
    const options = { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(30_000) }
    const response = await fetch(url, options)
    await response.arrayBuffer()
    return response
  } catch {
    return null
  }
}

/** Whether the same request may be answered otherwise later. 400 and 409 say that the task has moved on. */
const isPassing = status => status >= 500 || (status >= 300 && status < 400) || [401, 408, 429].includes(status)

/** In seconds or as a date. */
function retryAfter(answer) {
  const header = answer?.headers.get('retry-after')
  if (!header) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Math.min(LONGEST_PAUSE_MS, Math.max(0, ms || 0))
}
