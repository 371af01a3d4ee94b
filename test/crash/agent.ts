/** The agent of the crash tests: a local HTTPS endpoint that notes every webhook, and works while it is told to. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { verify } from '../../src/api/signature.ts'
import { type FrontAuthority, startFront } from '../../src/sim/agents/https-front.ts'

export interface Webhook {
  deliveryId: string
  event: string
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: the fields of the event
  data: any
}

export interface Agent {
  url: string
  secret: string
  /** All that came, in order, repetitions included. */
  webhooks: Webhook[]
  /** While set, it is given every webhook that comes for the first time; else they wait in `backlog`. */
  work: ((webhook: Webhook) => void) | null
  backlog: Webhook[]
  /** While true, webhooks are noted and left without an answer. */
  silent: boolean
  /** How long it takes for each answer. */
  delayMs: number
  close(): Promise<void>
}

export async function startAgent(authority: FrontAuthority): Promise<Agent> {
  const known = new Set<string>()
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = request.headers
    const verdict = verify({ secret: agent.secret, timestamp, signature, body, now: Date.now() })
    const { event, data } = JSON.parse(body)
    if (!verdict.ok) return void response.writeHead(401).end()
    if (agent.delayMs > 0) await wait(agent.delayMs)
    if (!agent.silent) response.writeHead(200).end()
    const webhook = { deliveryId: String(request.headers['x-service-delivery-id']), event, body, data }
    if (data.test !== true) agent.webhooks.push(webhook)
    if (known.has(webhook.deliveryId)) return
    known.add(webhook.deliveryId)
    if (agent.work) agent.work(webhook)
    else agent.backlog.push(webhook)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const front = await startFront({ authority })
  const { port } = server.address() as AddressInfo
  const target = `http://127.0.0.1:${port}/webhook`
  front.route('agent.example', target) // as the instances of a fleet call it
  const agent: Agent = {
    url: front.route('localhost', target),
    secret: '',
    webhooks: [],
    work: null,
    backlog: [],
    silent: false,
    delayMs: 0,
    async close() {
      await front.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return agent
}

/** Everything that came is in the outbox, under the one id that its event has there, each task's in their order. */
export function assertTold(
  webhooks: readonly Webhook[],
  outbox: readonly { id: string; taskId: string; body: string }[],
) {
  const bodies = new Map(outbox.map(({ id, body }) => [id, body]))
  const last = new Map<string, string>()
  const seen = new Set<string>()
  for (const { deliveryId, body, data } of webhooks) {
    assert.is(body, bodies.get(deliveryId), `the agent was told of ${deliveryId}, which is not in the outbox like that`)
    if (seen.has(deliveryId)) continue
    seen.add(deliveryId)
    assert.ok(deliveryId > (last.get(data.taskId) ?? ''), `${deliveryId} came behind a later event of its task`)
    last.set(data.taskId, deliveryId)
  }
  return seen
}
