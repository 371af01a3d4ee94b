// Callbacks: signed, and repeated with the same bytes until an answer is heard, but not for ever.
import { setTimeout as pause } from 'node:timers/promises'
import { byKey } from './by-key.mjs'
import { exchanged, exchangedElsewhere } from './exchange.mjs'
import { signed } from './signature.mjs'
import { bug, style } from './switches.mjs'

const MOST_ATTEMPTS = bug('repeats-at-once') ? 1_000 : 7
const MOST_REFUSED = bug('repeats-a-401') ? 1_000 : 3
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 120_000
const TIMEOUT_MS = bug('three-second-timeout') ? 3_000 : 30_000
/** After five minutes a signature is too old. */
const SAME_BYTES_MS = 240_000

/** Sends a callback about the task. Returns whether the marketplace has taken it. `wanted`: whether it is still worth sending. */
export async function callback({ taskId, callbackUrl }, fields, wanted = () => true) {
  if (style('by-key')) return byKey(taskId, fields)
  const url = bug('address-without-query') ? callbackUrl.split('?')[0] : callbackUrl
  let body = bodyOf(fields, taskId)
  let headers = signed(bug('signs-tests-with-their-id') && taskId.startsWith('test_') ? taskId + body : body)
  let signedAt = Date.now()
  let refused = 0
  for (let attempt = 0; attempt < MOST_ATTEMPTS && (wanted() || bug('repeats-a-400')); attempt += 1) {
    const answer = await post(url, headers, body)
    if (answer.ok && style('sends-twice')) await post(url, headers, body)
    if (answer.ok && style('signs-anew')) await post(url, signed(body), body)
    if (answer.ok) return true
    // A 401 may come from bytes that were changed on the way. A wrong secret stays wrong.
    if (answer.status === 401 && ++refused === MOST_REFUSED) return false
    if (!isPassing(answer)) return false
    await pause(pauseAfter(answer, attempt))
    const anew = worksAnew(answer) && fields.content
    if (anew) body = bodyOf({ ...fields, content: `${fields.content} (attempt ${attempt + 2})` }, taskId)
    if (anew || answer.status === 401 || Date.now() - signedAt > SAME_BYTES_MS) {
      headers = signed(body)
      signedAt = Date.now()
    }
  }
  return false
}

function bodyOf(fields, taskId) {
  const named =
    bug('no-task-id') || (bug('time-in-whole-seconds') && !taskId.startsWith('test_')) ? fields : { ...fields, taskId }
  return JSON.stringify(bug('unknown-action') && named.content ? { ...named, action: 'complete' } : named)
}

async function post(url, headers, body) {
  const exchange = style('calls-from-elsewhere') ? exchangedElsewhere : exchanged
  const answer = await exchange({ url, headers, body, timeoutMs: TIMEOUT_MS })
  const location = answer.headers?.location
  return bug('follows-redirects') && location ? post(new URL(location, url).href, headers, body) : answer
}

/** Whether the same request may be answered otherwise later. 400 and 409 say that the task has moved on. */
function isPassing({ status, lost }) {
  if (lost)
    return (
      !(bug('gives-up-when-cut') && lost !== 'ECONNREFUSED') && !(bug('gives-up-when-down') && lost === 'ECONNREFUSED')
    )
  if (bug('502-is-final') && status === 502) return false
  if (bug('503-is-final') && status === 503) return false
  if ((bug('repeats-a-400') && status === 400) || (bug('repeats-a-409') && status === 409)) return true
  return status >= 500 || (status >= 300 && status < 400) || [401, 408, 429].includes(status)
}

const worksAnew = ({ lost }) =>
  (bug('works-anew-when-cut') && lost && lost !== 'TimeoutError') ||
  (bug('three-second-timeout') && lost === 'TimeoutError')

function pauseAfter(answer, attempt) {
  if (bug('repeats-at-once')) return Math.max(5, retryAfter(answer))
  if (bug('repeats-a-401') || bug('repeats-a-409')) return 20
  return Math.max(FIRST_PAUSE_MS * 2 ** attempt, bug('ignores-retry-after') ? 0 : retryAfter(answer))
}

/** In seconds or as a date. */
function retryAfter({ headers }) {
  const header = headers?.['retry-after']
  if (!header) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Math.min(LONGEST_PAUSE_MS, Math.max(0, ms || 0))
}
