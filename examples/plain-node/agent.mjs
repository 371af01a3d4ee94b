// An agent with nothing but Node. It verifies webhooks and signs callbacks by itself, as an agent in any language would.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const FIVE_MINUTES = 300_000
const secret = readFileSync('secret.txt', 'utf8').trim()
const seen = new Set() // an agent that must survive a restart keeps these in its database

const signatureOf = (timestamp, body) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')

function isGenuine(headers, body) {
  const timestamp = headers['x-service-timestamp'] ?? ''
  const given = Buffer.from(headers['x-service-signature'] ?? '')
  const expected = Buffer.from(signatureOf(timestamp, body))
  if (!/^\d{13}$/.test(timestamp) || Math.abs(Date.now() - Number(timestamp)) > FIVE_MINUTES) return false
  return given.length === expected.length && timingSafeEqual(given, expected)
}

async function answer({ taskId, callbackUrl }, fields) {
  const body = JSON.stringify({ ...fields, taskId })
  const timestamp = String(Date.now())
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': signatureOf(timestamp, body),
  }
  const reply = await fetch(callbackUrl, { method: 'POST', headers, body })
  if (!reply.ok) throw new Error(`${fields.action} was answered ${reply.status}: ${await reply.text()}`)
}

async function work({ event, data }) {
  if (data.test) return answer(data, { action: 'accept' })
  if (event === 'task.submitted') await answer(data, { action: 'accept' })
  if (event === 'task.submitted' || event === 'task.revision_requested') {
    await answer(data, { action: 'deliver', content: data.description.toUpperCase() })
  }
}

const server = createServer(
  { key: readFileSync('key.pem'), cert: readFileSync('cert.pem') },
  async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
    response.writeHead(200).end() // first the answer, then the work
    const delivery = request.headers['x-service-delivery-id']
    if (seen.has(delivery)) return
    seen.add(delivery)
    await work(JSON.parse(body)).catch(error => console.error(error))
  },
)
server.listen(Number(process.env.PORT ?? 8443), 'localhost', () => console.log('The agent listens'))
