// An agent with nothing but Node. It verifies webhooks and signs callbacks by itself, as an agent in any language would.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

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

async function answer({ taskId, callbackUrl }, fields) {
  const body = JSON.stringify({ ...fields, taskId })
  const timestamp = String(Date.now())
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': signatureOf(timestamp, body),
  }
  const response = await fetch(callbackUrl, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`${fields.action} was refused with ${response.status}: ${await response.text()}`)
}

async function work({ event, data }) {
  if (data.test) return answer(data, { action: 'accept' })
  if (event === 'task.submitted') await answer(data, { action: 'accept' })
  if (event === 'task.submitted' || event === 'task.revision_requested') {
    await answer(data, { action: 'deliver', content: data.description.toUpperCase() })
  }
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
  response.writeHead(200).end() // first the answer, then the work
  if (isKnown(request.headers['x-service-delivery-id'], request.headers['x-service-signature'])) return
  await work(JSON.parse(body)).catch(error => console.error(error))
})
server.listen(Number(PORT), 'localhost', () => console.log('The agent listens'))
