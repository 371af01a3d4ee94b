// An agent that is as wrong as mistakes.json says, by the first part of the path, or by MISTAKE.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

const { MISTAKE, MARKETPLACE_WEBHOOK_SECRET, PORT } = process.env
const hmac = (key, ...parts) => parts.reduce((mac, part) => mac.update(part), createHmac('sha256', key))

async function send(how, { callbackUrl, taskId }, fields) {
  const now = Date.now()
  const timestamp = { ms: `${now}`, s: `${Math.floor(now / 1000)}`, us: `${now}000` }[how.time]
  const body = JSON.stringify({ taskId, ...fields })
  const [timeHeader, signatureHeader] = how.headers
  const headers = { 'Content-Type': 'application/json' }
  if (timeHeader) headers[timeHeader] = timestamp
  headers[signatureHeader] = hmac(how.secret, how.head.replace('{time}', timestamp), body).digest(how.digest)
  const sent = how.isWrittenAnew ? JSON.stringify(JSON.parse(body), null, 2) : body
  // Forged webhooks name an address at which nobody is.
  await fetch(callbackUrl.replace(/callback$/, how.path), { method: 'POST', headers, body: sent }).catch(() => {})
}

async function works(how, data) {
  for (const fields of how.calls) await send(how, data, fields)
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  const how = JSON.parse(readFileSync('mistakes.json', 'utf8'))[MISTAKE ?? request.url.split('/')[1]]
  how.secret = MARKETPLACE_WEBHOOK_SECRET ?? how.secret
  if (how.hangsUp) return request.socket.destroy()
  if (how.status !== 200) return response.writeHead(how.status, how.location && { location: how.location }).end()
  const verified = how.isParsed ? String(JSON.parse(body)) : body
  const key = how.key === undefined ? how.secret : Buffer.from(how.key, 'base64')
  const { 'x-service-timestamp': timestamp, 'x-service-signature': given } = request.headers
  if (hmac(key, `${timestamp}.`, verified).digest('hex') !== given) return response.writeHead(401).end()
  const { event, data } = JSON.parse(body)
  const isWork = event === 'task.submitted'
  if (isWork && how.worksFirst) await works(how, data)
  await pause(how.pauseMs)
  response.writeHead(200).end()
  if (isWork && !how.worksFirst) await works(how, data)
})
server.listen(Number(PORT), '127.0.0.1', () => console.log('The agent listens'))
