/** Agents of many builders behind one local HTTPS front: each has a path and a secret, passes tests, notes its webhooks. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { signatureHeaders } from '../../src/api/signature.ts'
import { type FrontAuthority, startFront } from '../../src/sim/agents/https-front.ts'

export interface Agents {
  /** The webhook of an agent, by its name, at a host of its own. */
  urlOf(name: string): string
  /** By name; known once the marketplace has made it. */
  secrets: Map<string, string>
  /** Called with each webhook that is no test, and when it came. */
  heard: (name: string, event: string, data: { taskId: string; message?: string }, at: number) => void
  close(): Promise<void>
}

export async function startAgents(authority: FrontAuthority): Promise<Agents> {
  const server = http.createServer(async (request, response) => {
    const at = performance.now()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.writeHead(200).end()
    const name = request.url!.slice(1)
    const { event, data } = JSON.parse(Buffer.concat(chunks).toString())
    if (data.test) callBack(data.callbackUrl, agents.secrets.get(name) ?? '')
    else agents.heard(name, event, data, at)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const front = await startFront({ authority })
  const agents: Agents = {
    urlOf(name) {
      const host = `${name}.agent.example`
      front.route(host, `${target}/${name}`)
      return `https://${host}:${front.port}/${name}`
    },
    secrets: new Map(),
    heard: () => {},
    async close() {
      await front.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return agents
}

function callBack(url: string, secret: string): void {
  const body = JSON.stringify({ action: 'accept' })
  const headers = { 'content-type': 'application/json', ...signatureHeaders(secret, Date.now(), body) }
  http
    .request(url, { method: 'POST', headers }, response => response.resume())
    .on('error', () => {})
    .end(body)
}
