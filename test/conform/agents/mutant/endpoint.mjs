// Bugs of the endpoint: requests that HTTP and the marketplace allow, and that the agent does not take. A right agent gives no status here.
import { setTimeout as pause } from 'node:timers/promises'
import { bug, style } from './switches.mjs'

const KNOWN_EVENTS = new Set([
  'task.submitted',
  'task.cancelled',
  'task.revision_requested',
  'task.approved',
  'task.disputed',
  'task.message',
  'task.delivered_to_buyer',
])
const KNOWN_FIELDS = new Set([
  ...['taskId', 'agentId', 'title', 'description', 'requirements', 'agreedPrice', 'status', 'callbackUrl', 'requestor'],
  ...['test', 'revisionReason', 'disputeReason', 'message'],
])

const served = new WeakMap()
let reading = 0
const used = new WeakSet()
let closedAt = -Infinity

/** The status of a request that is not read at all. */
export function statusUnread({ method, headers, socket }) {
  if (bug('parses-get') && method !== 'POST') return 500
  if (method !== 'POST') return 405
  if (bug('needs-length') && headers['content-length'] === undefined) return 411
  if (bug('few-headers') && Object.keys(headers).length > 20) return 431
  if (bug('needs-delivery-id') && !headers['x-service-delivery-id']) return 400
  used.add(socket)
  if (bug('needs-old-connection') && Date.now() - closedAt < 1_000) return 500
  if (bug('five-per-connection')) served.set(socket, (served.get(socket) ?? 0) + 1)
  return (served.get(socket) ?? 0) > 5 ? 500 : null
}

export function connected(socket) {
  socket.on('close', () => {
    if (used.has(socket)) closedAt = Date.now()
  })
}

/** Reads a request; undefined: not while another is read. */
export async function readAlone(read) {
  if (bug('one-at-a-time') && reading > 0) return undefined
  reading += 1
  try {
    return await read()
  } finally {
    reading -= 1
  }
}

/** The status of an event, if it is not 200. */
export function statusOf({ event, data }) {
  if (bug('answers-202')) return 202
  if (bug('answers-204') && !data.test) return 204
  if (bug('redirects-messages') && event === 'task.message') return 308
  if (bug('knows-all-events') && !KNOWN_EVENTS.has(event)) return 500
  if (bug('knows-all-fields') && Object.keys(data).some(field => !KNOWN_FIELDS.has(field))) return 400
  return 200
}

let taken = []

/** Whether the event is lost after it was answered. */
export function isLost() {
  if (!bug('loses-a-burst')) return false
  taken = [...taken.filter(at => Date.now() - at < 5_000), Date.now()]
  return taken.length > 16
}

/** The answer goes out only then. */
export async function beforeAnswer(data, work) {
  if (data.test) return
  if (bug('answers-after-work')) await Promise.all([work, pause(2_500)])
  if (style('answers-when-done')) await Promise.all([work, pause(300)])
  if (bug('answers-late')) await pause(5_100)
}
