// The endpoint: verifies, remembers, answers 200, and only then works.
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { isTakenForKnown } from './buyers.mjs'
import { callback } from './callbacks.mjs'
import { came, marksOf, missesCopy } from './copies.mjs'
import { beforeAnswer, connected, isLost, readAlone, statusOf, statusUnread } from './endpoint.mjs'
import { isUnwelcome } from './lives.mjs'
import { finish, isKnown, remember, unfinishedEvents, unfinishedOf } from './memory.mjs'
import { isTired, isUntaken, onBody, onCut, wordsOn } from './mishaps.mjs'
import { proxyTo } from './proxy.mjs'
import { isFit, isRefusedUnread, readText } from './reading.mjs'
import { signed } from './signature.mjs'
import { bug, style } from './switches.mjs'
import { isGenuine } from './verify.mjs'
import { hear, work } from './work.mjs'

/** Five times the longest webhook there is. */
const MOST_BYTES = bug('ends-of-long-bodies') ? Infinity : 1024 * 1024
const LONGEST_END_MS = 8_000

/** The last work on each task: the next waits for it. */
const lines = new Map()

function queue(event, key, again) {
  const { taskId } = event.data
  const line = (lines.get(taskId) ?? Promise.resolve())
    .then(() => work(event, again))
    .catch(error => console.error(error))
    .finally(() => {
      finish(key)
      if (lines.get(taskId) === line) lines.delete(taskId)
    })
  lines.set(taskId, line)
}

async function serve(request, response) {
  const unread = statusUnread(request)
  if (unread) return end(response, unread)
  const body = await readAlone(() => bodyOf(request))
  if (body === undefined) return end(response, 500)
  if (!body) return end(response, 413)
  if (style('cold-start')) await warm
  if (style('slow-answer')) await pause(++answers % 12 === 0 ? 3_000 : 300)
  if (style('busy') && isBusy(8)) return end(response, 429, { 'Retry-After': '1' })
  if (style('often-busy') && isBusy(4)) return end(response, 503)
  if (isRefusedUnread(request, body)) return end(response, 413)
  const event = eventIn(body)
  if (!isGenuine(request.headers, body)) {
    if (bug('notes-refused') && event) remember(marksOf(event, request.headers))
    if (bug('works-later-on-refused') && event && /[a-z]/.test(request.headers['x-service-timestamp'] ?? ''))
      setTimeout(() => queue(event, 'refused', false), LATE_MS)
    refused += 1
    return refuse(response, body)
  }
  if (bug('shy-when-attacked') && refused > 0) return end(response, 429)
  if (bug('acts-on-action')) actOn(body)
  await onBody(request, body)
  if (!event) return end(response, 400)
  if (isTired(event)) return end(response, 500)
  if (bug('refuses-deliveries') && event.event === 'task.delivered_to_buyer') return end(response, 400)
  if (bug('least-price') && event.data.agreedPrice < 200) return end(response, 400)
  if (bug('five-tests-a-day') && event.data.test && ++tests > 5) return end(response, 403)
  if (bug('two-tests') && event.data.test && ++tests > 2) return end(response, 200)
  if (isUnwelcome(event)) return end(response, 404)
  const status = statusOf(event)
  if (status > 299) return end(response, status)
  const isCopy = !isUntaken(request.headers) && !take(event, request.headers)
  await beforeAnswer(event.data, lines.get(event.data.taskId))
  end(response, bug('refuses-copies') && isCopy ? 409 : status)
}

let tests = 0
let answers = 0

/** Any refusal will do, or none at all. */
function refuse(response, body) {
  if (bug('prints-the-digest')) return response.writeHead(401).end(signed(body)['X-Service-Signature'])
  if (bug('refuses-with-400')) return end(response, 400)
  if (style('resets-forged')) return response.destroy()
  if (style('ignores-forged')) return
  end(response, style('refuses-variously') ? REFUSALS[refused % REFUSALS.length] : 401)
}

const REFUSALS = [400, 403, 404, 410]
let refused = 0
/** Later than the last that happens to the agent, unless somebody listens in quiet. */
const LATE_MS = 2_000

const warm = style('cold-start') ? new Promise(resolve => setTimeout(resolve, 3_000)) : null

let window = 0
let served = 0

/** Whether it was asked too often in the last moment. */
function isBusy(most) {
  const now = Math.floor(Date.now() / 200)
  if (now !== window) served = 0
  window = now
  return ++served > most
}

/** Takes its own callback for an order. */
function actOn(body) {
  const { action, taskId } = JSON.parse(body)
  const callbackUrl = `${process.env.MARKETPLACE_URL}/api/agent/tasks/${taskId}/callback`
  if (action) callback({ taskId, callbackUrl }, { action })
}

/** Takes an event up unless it is a copy, and returns whether it is none. */
function take(event, headers) {
  if (bug('takes-first-attempts-alone') && headers['x-service-attempt'] > 1) return true
  const marks = marksOf(event, headers)
  const key = marks.join(' ')
  if (isKnown(marks) && !missesCopy(event, headers, key)) {
    const begun = bug('waits-for-a-copy-to-go-on') && !lines.has(event.data.taskId) && unfinishedOf(event.data.taskId)
    if (begun) queue(begun.event, begun.key, true)
    return false
  }
  came(event, key)
  const begin = () => {
    remember(marks, { key, event })
    hear(event)
    if (isTakenForKnown(event)) return finish(key)
    if (!isLost()) queue(event, key, false)
  }
  if (bug('notes-late')) setTimeout(begin, 10)
  else begin()
  return true
}

function eventIn(body) {
  try {
    const event = JSON.parse(readText(body))
    return typeof event?.event === 'string' && typeof event.data?.taskId === 'string' && isFit(event) ? event : null
  } catch {
    return null
  }
}

/** Reads to the end, and returns null if it was too much. Throws if the connection is cut. */
async function bodyOf(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= MOST_BYTES) chunks.push(chunk)
  }
  if (bug('adds-up-strings')) return Buffer.from(chunks.join(''))
  return size <= MOST_BYTES ? Buffer.concat(chunks) : null
}

function end(response, status, headers) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(wordsOn(status)))
}

const server = createServer((request, response) => {
  response.on('error', () => {})
  serve(request, response).catch(() => {
    onCut()
    response.destroy()
  })
})

/** Ends what it has begun. What takes longer is worked on after the next start. */
function stop() {
  if (front) front.close(() => server.close())
  else server.close()
  setTimeout(() => process.exit(), LONGEST_END_MS).unref()
  const idle = async () => {
    while (lines.size > 0) await Promise.all(lines.values())
    process.exit()
  }
  server.once('close', idle)
}

server.on('connection', connected)
process.on('SIGTERM', bug('ignores-sigterm') ? () => {} : bug('ends-at-once') ? () => process.exit() : stop)
const begun = bug('forgets-what-it-began') ? [] : unfinishedEvents()
if (!bug('waits-for-a-copy-to-go-on')) for (const { key, event } of begun) queue(event, key, true)
const port = Number(process.env.PORT ?? 3000)
const front = style('behind-a-proxy') ? proxyTo(server, port) : null
if (!front) server.listen(port, style('ipv6') ? '::1' : '127.0.0.1', () => console.log('The agent listens'))
