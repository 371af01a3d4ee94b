/** A simple balancer: each request goes to the next server; to the one after it if nobody listens there. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Balancer {
  url: string
  /** Where requests go, one after the other. */
  targets: string[]
  close(): Promise<void>
}

/** A connection that is cut behind it is cut in front of it as well. */
export async function startBalancer(): Promise<Balancer> {
  const agent = new http.Agent({ keepAlive: true, timeout: 2_000 })
  const targets: string[] = []
  let sent = 0
  const pass = (request: http.IncomingMessage, body: Buffer, response: http.ServerResponse, left: number) => {
    const { method, url, headers } = request
    const cut = () => void response.destroy()
    const onward = http.request(targets[sent++ % targets.length]! + url, { method: method!, headers, agent })
    onward.on('response', answer => {
      answer.on('error', cut)
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && left > 1) pass(request, body, response, left - 1)
      else cut()
    })
    onward.end(body)
  }
  const server = http.createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null)
    if (body) pass(request, body, response, targets.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      agent.destroy()
    },
  }
}
