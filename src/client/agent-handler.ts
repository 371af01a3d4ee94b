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
  const { onRefused } = options
  const print = refusalPrinter([signing, ...others])
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
      return onRefused ? onRefused(error as WebhookError, request) : print(error as WebhookError, request, body)
    }
    await work.receive(cameBy(request, body), event, isKept =>
      isKept ? end(response, 200) : end(response, 503, 'The agent can take nothing at this moment.'),
    )
  }
}

/** A stranger may send forgeries without end, and looking for their cause takes a while. */
const LOOK_EVERY_MS = 10_000

/** Says it on stderr with its cause, as a marketplace tells it. */
function refusalPrinter(secrets: readonly string[]) {
  let lookAgainAt = 0
  return async ({ message, reason }: WebhookError, { rawHeaders }: IncomingMessage, body: Buffer | 'consumed') => {
    const now = Date.now()
    const isLookedAt = body !== 'consumed' && reason !== 'malformed_body' && now >= lookAgainAt
    if (isLookedAt) lookAgainAt = now + LOOK_EVERY_MS
    const why = isLookedAt ? await causeOf(body, rawHeaders, secrets, message) : message
    console.error(`A webhook was refused: ${why}`)
  }
}

async function causeOf(body: Buffer, rawHeaders: readonly string[], secrets: readonly string[], message: string) {
  const { diagnose } = await import('../api/diagnosis/diagnose.ts')
  const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1]!] as const] : []))
  const candidates = secrets.map(secret => ({ secret, kind: 'current' as const }))
  const found = diagnose({ headers, body }, candidates, Date.now())
  return found ? `${found.certainty === 'sure' ? found.text : message} ${found.fix}` : message
}

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
