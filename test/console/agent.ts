/** An agent whose check of signatures is wrong until it is mended: it takes the body alone for what is signed. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

function parsed(body: string) {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

export async function openMistakenAgent() {
  let isMended = false
  let refusal = '{"error":"invalid signature"}'
  let secret = ''
  let key = ''
  let api = ''
  let tell = () => {}
  const isKnown = new Promise<void>(resolve => {
    tell = resolve
  })
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    // A judge sends what is no webhook, too.
    const said = parsed(body)
    // dev tests it at once, and tells its secret in the same moment.
    await isKnown
    const signed = isMended ? `${request.headers['x-service-timestamp']}.${body}` : body
    const right = createHmac('sha256', secret).update(signed).digest()
    const given = Buffer.from(String(request.headers['x-service-signature']), 'hex')
    const isRight = right.length === given.length && timingSafeEqual(right, given)
    response.statusCode = isRight ? 200 : 401
    response.setHeader('content-type', 'application/json')
    response.end(isRight ? '{}' : refusal)
    if (isRight && said?.event === 'task.submitted' && !said.data.test) await work(said.data.taskId)
  })
  const call = async (path: string, content?: object) => {
    await fetch(api + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(content && { body: JSON.stringify(content) }),
    })
  }
  const work = async (taskId: string) => {
    await call(`/api/agent/tasks/${taskId}/accept`)
    await call(`/api/agent/tasks/${taskId}/deliver`, { content: 'Liebe Gäste, willkommen.' })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    /** It knows its secret from now on. */
    begin(known: { secret: string; key: string; api: string }) {
      ;({ secret, key, api } = known)
      tell()
    },
    mend() {
      isMended = true
    },
    /** What it answers whatever it refuses. */
    refuseWith(words: string) {
      refusal = words
    },
    /** Makes the same mistake again. */
    spoil() {
      isMended = false
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
