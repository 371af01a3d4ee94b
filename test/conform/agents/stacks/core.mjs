// What each agent of these stacks does, whatever serves its HTTP: written from the guide alone, with files for a store, which several processes may share.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export const LONGEST = 1_048_576
const secret = process.env.MARKETPLACE_WEBHOOK_SECRET
if (!secret) throw new Error('MARKETPLACE_WEBHOOK_SECRET is missing')

const [seen, open] = ['seen', 'open'].map(name => join(process.env.STATE_DIRECTORY, name))
for (const folder of [seen, open]) mkdirSync(folder, { recursive: true })

const signatureOf = (timestamp, body) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')

export function isGenuine(headers, body) {
  const { 'x-service-timestamp': timestamp = '', 'x-service-signature': given = '' } = headers
  if (!/^\d{13}$/.test(timestamp) || Math.abs(Date.now() - Number(timestamp)) > 300_000) return false
  const expected = signatureOf(timestamp, body)
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}

/** The status of a webhook with these bytes. Its work begins when that was answered. */
export function handle(headers, body) {
  if (!isGenuine(headers, body)) return 401
  const event = eventIn(body)
  if (!event) return 400
  const { 'x-service-delivery-id': id = '', 'x-service-signature': signature } = headers
  // Of several processes, one makes the file of a mark. It goes on from mark to mark, or two would make one each, and leave the work to each other.
  const marks = [`id ${id}`, `signature ${signature}`, `event ${event.event} ${event.data.taskId} ${event.timestamp}`]
  if (!marks.every(claim)) return 200
  const key = join(open, `${hashOf(marks[1])}.json`)
  writeFileSync(`${key}.new`, body)
  renameSync(`${key}.new`, key)
  setImmediate(() => begin(key, event, false))
  return 200
}

const hashOf = text => createHash('sha256').update(text).digest('hex')

function claim(mark) {
  try {
    closeSync(openSync(join(seen, hashOf(mark)), 'wx'))
    return true
  } catch {
    return false
  }
}

export function eventIn(body) {
  try {
    const event = JSON.parse(body.toString())
    return typeof event.event === 'string' && typeof event.data?.taskId === 'string' ? event : null
  } catch {
    return null
  }
}

const lines = new Map()

/** `--serial 3000`: the work on all tasks is one line, and takes so long for each. */
const serialMs = process.argv.includes('--serial') ? Number(process.argv.at(-1)) : null
let bench = Promise.resolve()

/** Events of one task are worked on one after the other. */
function begin(key, event, again) {
  const { taskId } = event.data
  const line = (lines.get(taskId) ?? Promise.resolve())
    .then(() => work(event, again))
    .catch(error => console.error(error.message))
    .then(() => rmSync(key, { force: true }))
    .finally(() => lines.get(taskId) === line && lines.delete(taskId))
  lines.set(taskId, line)
}

async function work({ event, data }, again) {
  if (data.test) return answer(data, { action: 'accept' })
  if (event === 'task.submitted') {
    if (/malware/i.test(data.title)) return answer(data, { action: 'reject', reason: 'I write no malware.' })
    const { status, text } = await answer(data, { action: 'accept' })
    if (status === 200 || (again && text.includes('that is in_progress'))) await deliver(data)
  }
  if (event === 'task.revision_requested') await deliver(data)
  if (event === 'task.message')
    await answer(data, { action: 'message', content: `You wrote: ${data.message}`.slice(0, 5_000) })
}

async function deliver(data) {
  if (serialMs !== null) bench = bench.then(() => pause(serialMs))
  await bench
  const content = [data.title, data.description, data.revisionReason].filter(Boolean).join('\n')
  await answer(data, { action: 'deliver', content })
}

/** Sends the same bytes until an answer is heard, and returns that. */
export async function answer({ taskId, callbackUrl }, fields) {
  const body = JSON.stringify({ ...fields, taskId })
  const timestamp = String(Date.now())
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': signatureOf(timestamp, body),
  }
  for (let ms = 500; ms <= 32_000; ms *= 2) {
    const response = await sent(callbackUrl, { method: 'POST', headers, body, redirect: 'manual' })
    if (response && response.status !== 429 && response.status < 500) return response
    await pause(Math.max(ms, 1_000 * (Number(response?.after) || 0)))
  }
  throw new Error(`${fields.action} got no answer`)
}

async function sent(url, request) {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(30_000) })
    return { status: response.status, after: response.headers.get('retry-after'), text: await response.text() }
  } catch {
    return null
  }
}

/** Goes on with what an end of the process has cut off. */
export function resume() {
  for (const name of readdirSync(open).filter(name => name.endsWith('.json'))) {
    const key = join(open, name)
    begin(key, JSON.parse(readFileSync(key, 'utf8')), true)
  }
}

/** On SIGTERM, however often it comes, the webhooks that are here are answered, and what has begun is done, as far as eight seconds reach. */
export function endInOrder(server) {
  process.once('SIGTERM', () => {
    setTimeout(() => process.exit(), 8_000).unref()
    server.close(async () => {
      while (lines.size > 0) await Promise.all(lines.values())
      process.exit()
    })
    server.closeIdleConnections()
  })
  process.on('SIGTERM', () => {}) // It may come twice.
}

export function listen(server) {
  resume()
  endInOrder(server)
  server.listen(process.env.PORT, '127.0.0.1')
}

export async function bodyOf(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= LONGEST) chunks.push(chunk)
  }
  return size <= LONGEST ? Buffer.concat(chunks) : null
}

/** A handler of plain node:http. */
export async function serve(request, response) {
  const end = status => response.writeHead(status).end()
  if (request.method !== 'POST') return end(405)
  try {
    const body = await bodyOf(request)
    end(body ? handle(request.headers, body) : 413)
  } catch {
    response.destroy()
  }
}
