// An agent with nothing but Node. It verifies webhooks and signs callbacks by itself, as an agent in any language would.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout } from 'node:timers/promises'

const FIVE_MINUTES = 300_000
const { MARKETPLACE_WEBHOOK_SECRET: secret, PORT = '3000', STATE_DIRECTORY = '.' } = process.env
if (!secret) throw new Error('MARKETPLACE_WEBHOOK_SECRET is not set')
const journal = `${STATE_DIRECTORY}/agent.journal` // one process at a time may have it
const seen = new Set()
const unfinished = new Map()

const signatureOf = (timestamp, body) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')

function isGenuine(headers, body) {
  const timestamp = headers['x-service-timestamp'] ?? ''
  const given = Buffer.from(headers['x-service-signature'] ?? '')
  const expected = Buffer.from(signatureOf(timestamp, body))
  if (!/^\d{13}$/.test(timestamp) || Math.abs(Date.now() - Number(timestamp)) > FIVE_MINUTES) return false
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** What came and what is done, a change a line: it is on the disk before the 200, and outlives an end of the process. */
function keep(change) {
  appendFileSync(journal, `\n${JSON.stringify(change)}`, { flush: true })
  apply(change)
}

function apply({ marks = [], body, done }) {
  for (const mark of marks) seen.add(mark)
  if (body) unfinished.set(marks[0], body)
  unfinished.delete(done)
}

/** At the start the journal is read, and written anew with what counts of it. */
function recall() {
  for (const line of existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : []) {
    // A line that was cut off in the midst was never answered.
    if (line.endsWith('}')) apply(JSON.parse(line))
  }
  const kept = [{ marks: [...seen].slice(-20_000) }]
  for (const [mark, body] of unfinished) kept.push({ marks: [mark], body })
  writeFileSync(`${journal}.new`, kept.map(change => JSON.stringify(change)).join('\n'), { flush: true })
  renameSync(`${journal}.new`, journal)
}

/** A retry has the same delivery id and a new signature, a replay by a stranger the same signature. */
function isNew(body, marks) {
  const known = marks.some(mark => seen.has(mark))
  keep(known ? { marks } : { marks, body })
  return !known
}

/** Where the marketplace has not answered, the same bytes are sent again: what has counted already is done once. */
async function answer({ taskId, callbackUrl }, fields) {
  const body = JSON.stringify({ ...fields, taskId })
  const timestamp = String(Date.now())
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': signatureOf(timestamp, body),
  }
  for (let pause = 500; pause < 60_000; pause *= 2) {
    const signal = AbortSignal.timeout(30_000)
    const sent = fetch(callbackUrl, { method: 'POST', headers, body, redirect: 'manual', signal })
    const response = await sent.catch(() => new Response(null, { status: 503 }))
    if (response.ok) return
    const refusal = `${fields.action} was refused with ${response.status}: ${await response.text().catch(() => '')}`
    // It was accepted before a restart, so the work is still to be done.
    if (fields.action === 'accept' && refusal.includes('that is in_progress')) return
    if (response.status !== 429 && response.status < 500) throw new Error(refusal)
    const seconds = Number(response.headers.get('Retry-After')) || 0
    await setTimeout(Math.max(pause, seconds * 1000))
  }
  throw new Error(`${fields.action} got no answer`)
}

async function work({ event, data }) {
  if (data.test) return answer(data, { action: 'accept' })
  if (event === 'task.submitted') await answer(data, { action: 'accept' })
  if (event === 'task.submitted' || event === 'task.revision_requested') {
    const content = [data.description, data.revisionReason].filter(Boolean).join('\n\n').toUpperCase()
    await answer(data, { action: 'deliver', content })
  }
}

/** What was refused is done too. Only what an end of the process has cut off is begun again. */
async function begin(mark) {
  try {
    await work(JSON.parse(unfinished.get(mark)))
  } catch (error) {
    console.error(error)
  }
  keep({ done: mark })
}

async function webhook(request, response) {
  const body = Buffer.concat(await request.toArray())
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
  const marks = [request.headers['x-service-delivery-id'], request.headers['x-service-signature']].filter(Boolean)
  const fresh = isNew(String(body), marks)
  response.writeHead(200).end() // first the answer, then the work
  if (fresh) await begin(marks[0])
}

// A connection that was cut, a disk that is full: neither ends the agent. What could not be kept comes again.
const server = createServer((request, response) =>
  webhook(request, response).catch(error => {
    console.error(error)
    if (!response.headersSent) response.writeHead(503).end()
  }),
)
recall()
for (const mark of unfinished.keys()) begin(mark).catch(error => console.error(error))
server.listen(Number(PORT), 'localhost', () => console.log('The agent listens'))
process.on('SIGTERM', () => server.close()) // what has begun is done before it ends
