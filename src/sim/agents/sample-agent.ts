/** The simulator's own agent: accepts every task and delivers at once. It runs in this process, behind the HTTPS front. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Reply, WebhookData } from '../../client/webhooks.ts'
import { once } from '../../shared/once.ts'
import type { Front } from './https-front.ts'

export interface SampleAgent {
  /** Its webhook URL. */
  url: string
  /** Gives it the secret. Before that, it responds with 503. */
  use(secret: string): void
  close(): Promise<void>
}

export const SAMPLE = 'sample-agent'

/** Starts the agent. `onError` gets the errors of its work, such as a refused callback after the buyer has cancelled. */
export async function startSampleAgent(front: Front, onError: (error: Error) => void): Promise<SampleAgent> {
  let handle: http.RequestListener = (_request, response) => void response.writeHead(503).end()
  const server = http.createServer((request, response) => handle(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const closing = new AbortController()
  const { signal } = closing

  return {
    url: front.route(SAMPLE, `http://127.0.0.1:${port}/webhook`),
    use(secret) {
      const handler = once(() => handlerWith({ secret, onError: error => signal.aborted || onError(error), signal }))
      handle = (request, response) =>
        void handler().then(
          answer => answer(request, response),
          error => {
            response.writeHead(500).end()
            onError(error)
          },
        )
    },
    async close() {
      closing.abort()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

interface Options {
  secret: string
  onError(error: Error): unknown
  signal: AbortSignal
}

/** Agents' library is loaded by the first webhook: no start has to wait for it. */
async function handlerWith({ secret, onError, signal }: Options): Promise<http.RequestListener> {
  const { agentHandler } = await import('../../client/webhooks.ts')
  return agentHandler({
    secret,
    onTask: async ({ data }, reply) => {
      await reply.accept()
      await deliver(data, reply)
    },
    onRevision: ({ data }, reply) => deliver(data, reply, data.revisionReason),
    onMessage: ({ data }, reply) => reply.message(`You wrote: ${data.message}`.slice(0, 5000)),
    onError: error => onError(error as Error),
    signal,
  })
}

function deliver({ title, description }: WebhookData, reply: Reply, revision?: string): Promise<unknown> {
  const words = description.split(/\s+/).filter(Boolean).length
  const again = revision === undefined ? '' : `\nRevised, because: ${revision}`
  return reply.deliver(`"${title}": the description has ${words} words.${again}`, 'From the built-in sample agent.')
}
