/** A whole agent as a handler for node:http. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SIGNATURE_HEADER } from '../api/signature.ts'
import type { AgentOptions } from './agent-options.ts'
import type { Came } from './inbox.ts'
import { checkedSecrets, verifyWebhook, WebhookError } from './verify-webhook.ts'
import type { WebhookEvent } from './webhook-events.ts'
import { AgentWork } from './work.ts'

/**
 * Returns a whole agent as a handler for node:http: `createServer(agentHandler({ secret, onTask }))`. It verifies each webhook (401 if that
 * fails), responds with 200 at once and then calls the function for the event. A webhook that comes twice is handled once. With a `journal` it
 * goes on with what an earlier process has not ended, in the order in which it came, and responds with 503 to what it can't keep.
 * Throws a TypeError if the secret can't be one, and an Error if the journal can't be had.
 */
export function agentHandler(options: AgentOptions) {
  const [signing = '', ...others] = checkedSecrets(options.secret)
  const refused = options.onRefused ?? printRefusal
  const work = new AgentWork(options, signing)
  work.resume()

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST') return end(response, 405, 'Webhooks come by POST.')
    const body = await bodyOf(request).catch(() => undefined)
    if (!body) return end(response, 413, 'The body is too long or broke off.')
    let event: WebhookEvent
    try {
      if (body === 'consumed') throw new WebhookError('parsed_body')
      event = verifyWebhook({ body, headers: request.headers, secret: [signing, ...others] })
    } catch (error) {
      const { reason, message } = error as WebhookError
      end(response, reason === 'parsed_body' ? 500 : 401, message)
      return refused(error as WebhookError, request)
    }
    await work.receive(cameBy(request, body), event, isKept =>
      isKept ? end(response, 200) : end(response, 503, 'The agent can take nothing at this moment.'),
    )
  }
}

const printRefusal = ({ message }: WebhookError) =>
  console.error(`A webhook was refused: ${message} To see why: npx agent-marketplace verify --help`)

/** A retry has the same delivery id and a new signature. A replay by an attacker can change the id but not the signature. */
function cameBy({ headers }: IncomingMessage, body: Buffer): Came {
  const id = headers['x-service-delivery-id']
  const marks = [`signature ${headers[SIGNATURE_HEADER.toLowerCase()]}`, ...(id ? [`id ${id}`] : [])]
  return { key: hashOf(body), marks: marks.map(hashOf), body: body.toString() }
}

const hashOf = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('base64url').slice(0, 22)

// Far longer than any webhook.
const MAX_BODY_BYTES = 1024 * 1024

/** Returns the raw body, also where a parser such as express.raw() has kept it; 'consumed' if its bytes are gone. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | 'consumed' | undefined> {
  if (!request.readableDidRead) return readBody(request)
  const { rawBody, body } = request as { rawBody?: unknown; body?: unknown }
  return [rawBody, body].find(Buffer.isBuffer) ?? 'consumed'
}

/** Returns undefined if the body is too long. It is read to its end but not kept. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined
}

function end(response: ServerResponse, status: number, error?: string): void {
  const body = error === undefined ? { success: true } : { success: false, error }
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
