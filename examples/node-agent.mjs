// An agent with nothing but Node. It verifies webhooks and signs callbacks by itself, as an agent in any language would.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout } from 'node:timers/promises'

const FIVE_MINUTES = 300_000
const { MARKETPLACE_WEBHOOK_SECRET: secret, PORT = '3000' } = process.env
if (!secret) throw new Error('MARKETPLACE_WEBHOOK_SECRET is not set')
const seen = new Set() // an agent that must survive a restart keeps these in its database

const signatureOf = (timestamp, body) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')

function isGenuine(headers, body) {
  const timestamp = headers['x-service-timestamp'] ?? ''
  const given = Buffer.from(headers['x-service-signature'] ?? '')
  const expected = Buffer.from(signatureOf(timestamp, body))
  if (!/^\d{13}$/.test(timestamp) || Math.abs(Date.now() - Number(timestamp)) > FIVE_MINUTES) return false
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** A retry has the same delivery id and a new signature, a replay by a stranger the same signature. */
function isKnown(...marks) {
  const given = marks.filter(Boolean)
  const known = given.some(mark => seen.has(mark))
  for (const mark of given) seen.add(mark)
  return known
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

async function webhook(request, response) {
  const body = Buffer.concat(await request.toArray())
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
  response.writeHead(200).end() // first the answer, then the work
  if (isKnown(request.headers['x-service-delivery-id'], request.headers['x-service-signature'])) return
  await work(JSON.parse(body))
}

// A connection that was cut, a body that is no event, a callback that was refused: none of them ends the agent.
const server = createServer((request, response) => webhook(request, response).catch(error => console.error(error)))
server.listen(Number(PORT), 'localhost', () => console.log('The agent listens'))
process.once('SIGTERM', () => server.close()) // what has begun is done before it ends
