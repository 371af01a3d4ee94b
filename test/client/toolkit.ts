/** What tests of the toolkit for agents share: events, an agent, and a stand-in for the service. */
import { signatureHeaders, verify } from '../../src/api/signature.ts'
import { type AgentOptions, agentHandler, type WebhookEvent } from '../../src/client/webhooks.ts'
import { listen } from '../support/listen.ts'

export const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
export const NOW = 1_767_225_600_000

export function makeEvent(kind: string, callbackUrl = 'http://127.0.0.1:9/callback', extra: object = {}): WebhookEvent {
  return {
    event: kind,
    timestamp: new Date(NOW).toISOString(),
    data: {
      taskId: 'task_1',
      agentId: 'agt_1',
      title: 'Éine Aufgabe',
      description: '',
      requirements: '',
      agreedPrice: 500,
      status: 'pending',
      callbackUrl,
      requestor: { id: 'usr_1', type: 'user', trustTier: 'trusted' },
      ...extra,
    },
  } as WebhookEvent
}

/** A stand-in for the service's callback endpoint: keeps what comes, and whether its signature holds. */
export async function callbackSink(status = 200, reply: object = { success: true, data: { task: { id: 'task_1' } } }) {
  const received: { body: Record<string, unknown>; valid: boolean }[] = []
  let wake = () => {}
  const server = await listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const timestamp = request.headers['x-service-timestamp']
    const signature = request.headers['x-service-signature']
    const verdict = verify({ secret: SECRET, timestamp, signature, body, now: Date.now() })
    received.push({ body: JSON.parse(body.toString()), valid: verdict.ok })
    response.writeHead(status).end(JSON.stringify(reply))
    wake()
  })
  const arrived = async (count: number) => {
    while (received.length < count) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
  }
  return { ...server, received, arrived }
}

export async function send(url: string, event: object, headers: Record<string, string> = {}) {
  const body = JSON.stringify(event)
  const reply = await fetch(url, {
    method: 'POST',
    body,
    headers: { ...signatureHeaders(SECRET, Date.now(), body), ...headers },
  })
  return { status: reply.status, body: (await reply.json()) as { success: boolean; error?: string } }
}

export async function withAgent(options: Omit<AgentOptions, 'secret'>, work: (url: string) => Promise<void>) {
  const agent = await listen(agentHandler({ secret: SECRET, ...options }))
  try {
    await work(agent.url)
  } finally {
    agent.close()
  }
}
