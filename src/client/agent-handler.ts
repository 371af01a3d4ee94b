/** A whole agent as a handler for node:http. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AnswerOptions, type Reply, replyTo } from './callbacks.ts'
import { checkedSecrets, verifyWebhook, WebhookError } from './verify-webhook.ts'
import type {
  DeliveredToBuyer,
  RevisionRequested,
  TaskApproved,
  TaskCancelled,
  TaskDisputed,
  TaskMessage,
  TaskSubmitted,
  WebhookEvent,
} from './webhook-events.ts'

type Work<E> = (event: E, reply: Reply) => unknown

export interface AgentOptions extends AnswerOptions {
  /** The whole `whsec_…`, or several while one is being replaced. The first signs the callbacks. */
  secret: string | readonly string[]
  /** A buyer has submitted a task. Accept it and deliver, or reject it. */
  onTask: Work<TaskSubmitted>
  onRevision?: Work<RevisionRequested>
  onMessage?: Work<TaskMessage>
  onApproved?: Work<TaskApproved>
  onCancelled?: Work<TaskCancelled>
  onDisputed?: Work<TaskDisputed>
  onDelivered?: Work<DeliveredToBuyer>
  /** A test webhook. Unless given, it is accepted, which passes the test. */
  onTest?: Work<WebhookEvent>
  /** Called with each webhook that is refused. Unless given, a line goes to stderr. */
  onRefused?: (error: WebhookError, request: IncomingMessage) => void
  /** Called with an error of the work, after the response was sent. Unless given, errors go to stderr. */
  onError?: (error: unknown, event: WebhookEvent) => void
}

/**
 * Returns a whole agent as a handler for node:http: `createServer(agentHandler({ secret, onTask }))`. Throws a TypeError if the
 * secret can't be one. It verifies each webhook (401 if that fails), responds with 200 at once and then calls the function for the event. A webhook that comes twice is
 * handled once.
 */
export function agentHandler(options: AgentOptions) {
  const seen = new Recent(30_000)
  const [signing = '', ...others] = checkedSecrets(options.secret)
  const refused = options.onRefused ?? printRefusal

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
    const mark = `body ${createHash('sha256').update(body).digest('base64')}`
    const known = seen.has(marksOf(request)) || seen.has([mark])
    end(response, 200)
    // What went wrong can be sent again by the builder, under a new delivery id.
    if (!known && !(await work(event, options, signing))) seen.forget(mark)
  }
}

const printRefusal = ({ message }: WebhookError) =>
  console.error(`A webhook was refused: ${message} To see why: npx agent-marketplace verify --help`)

/** Returns whether it went well. */
async function work(event: WebhookEvent, options: AgentOptions, secret: string): Promise<boolean> {
  try {
    await handlerOf(event, options)?.(event as never, replyTo(event, secret, options))
    return true
  } catch (error) {
    if (options.onError) options.onError(error, event)
    else console.error(`${event.event} for ${event.data.taskId}:`, error)
    return false
  }
}

function handlerOf(event: WebhookEvent, options: AgentOptions): Work<never> | undefined {
  if (event.data.test) return options.onTest ?? ((_event, reply) => reply.accept())
  const handlers: Record<WebhookEvent['event'], Work<never> | undefined> = {
    'task.submitted': options.onTask,
    'task.revision_requested': options.onRevision,
    'task.message': options.onMessage,
    'task.approved': options.onApproved,
    'task.cancelled': options.onCancelled,
    'task.disputed': options.onDisputed,
    'task.delivered_to_buyer': options.onDelivered,
  }
  return handlers[event.event]
}

// A retry has the same delivery id and a new signature. A replay by an attacker can change the id but not the signature.
function marksOf({ headers }: IncomingMessage): string[] {
  const id = headers['x-service-delivery-id']
  return [String(headers['x-service-signature']), ...(id ? [`id ${id}`] : [])]
}

/** Remembers a bounded number of recent marks. */
class Recent {
  readonly #marks = new Set<string>()
  readonly #most: number
  constructor(most: number) {
    this.#most = most
  }

  /** Returns whether any of the marks was seen before, and remembers all of them. */
  has(marks: readonly string[]): boolean {
    const known = marks.some(mark => this.#marks.has(mark))
    for (const mark of marks) this.#marks.add(mark)
    for (const oldest of this.#marks) {
      if (this.#marks.size <= this.#most) break
      this.#marks.delete(oldest)
    }
    return known
  }

  forget(mark: string): void {
    this.#marks.delete(mark)
  }
}

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
