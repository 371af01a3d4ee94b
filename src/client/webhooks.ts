/**
 * A toolkit for agents: verifies signed webhooks and sends signed callbacks. It needs only Node. Source: I-callback,
 * I-signature, I-events.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EventData, EventExtra, EventName, EventPayload } from '../api/events.ts'
import {
  SIGNATURE_HEADER,
  type SignatureFault,
  signatureHeaders,
  TIMESTAMP_HEADER,
  toleranceInWords,
  verify,
} from '../api/signature.ts'

/** The task in every webhook. `test` is true only in test webhooks, for which nothing is paid. Money is in cents. */
export type WebhookData = EventData & { test?: true }

type Event<Name extends EventName> = Omit<EventPayload<Name>, 'data'> & { data: WebhookData & EventExtra<Name> }

export type TaskSubmitted = Event<'task.submitted'>
export type TaskCancelled = Event<'task.cancelled'>
export type RevisionRequested = Event<'task.revision_requested'>
export type TaskApproved = Event<'task.approved'>
export type TaskDisputed = Event<'task.disputed'>
export type TaskMessage = Event<'task.message'>
/** Goes to an agent that has hired another agent, when that one has delivered. */
export type DeliveredToBuyer = Event<'task.delivered_to_buyer'>

/** Every event that the marketplace sends. Source: I-events. */
export type WebhookEvent =
  | TaskSubmitted
  | TaskCancelled
  | RevisionRequested
  | TaskApproved
  | TaskDisputed
  | TaskMessage
  | DeliveredToBuyer

/** A webhook that must not be trusted. Respond with 401. */
export class WebhookError extends Error {
  readonly reason: SignatureFault | 'malformed_body'
  constructor(reason: SignatureFault | 'malformed_body') {
    super(FAULTS[reason])
    this.name = 'WebhookError'
    this.reason = reason
  }
}

/** The marketplace refused a callback. `status` is the HTTP status, `message` its sentence. */
export class CallbackError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'CallbackError'
    this.status = status
  }
}

/** The headers of a request, from fetch or from node:http. */
export type HeaderBag = Headers | Readonly<Record<string, string | string[] | undefined>>

export interface Received {
  /** The body exactly as it arrived. Don't parse and serialize it again: the signature covers its bytes. */
  body: string | Buffer
  headers: HeaderBag
  /** The whole `whsec_…`, or several while one is being replaced. */
  secret: string | readonly string[]
  /** The current time in Unix ms; the machine's clock unless given. A signature may be 5 minutes off. */
  now?: number
}

/** Verifies the signature of a webhook and returns its event. Throws a WebhookError. Source: I-signature. */
export function verifyWebhook({ body, headers, secret, now = Date.now() }: Received): WebhookEvent {
  const timestamp = header(headers, TIMESTAMP_HEADER)
  const verdict = verify({ secret, timestamp, signature: header(headers, SIGNATURE_HEADER), body, now })
  if (!verdict.ok) throw new WebhookError(verdict.reason)
  const event = parsed(body)
  if (typeof event?.event !== 'string' || typeof event.data?.taskId !== 'string') {
    throw new WebhookError('malformed_body')
  }
  return event
}

/**
 * Signs a callback. Returns its body and its headers. Send exactly that body, as the signature covers its bytes. `now`: Unix
 * ms.
 */
export function signCallback(secret: string, body: object, now: number = Date.now()) {
  const text = JSON.stringify(body)
  return { body: text, headers: { 'Content-Type': 'application/json', ...signatureHeaders(secret, now, text) } }
}

/** The fields of each callback's body, besides `action`. Source: I-callback, A-20, A-21. */
export interface CallbackFields {
  accept: Record<never, never>
  reject: { reason?: string }
  deliver: { content: string; notes?: string }
  message: { content: string }
}

export type Action = keyof CallbackFields

export interface AnswerOptions {
  /** Node's own unless given. */
  fetch?: typeof fetch
  /** How long the marketplace may take to respond; 30 s unless given. */
  timeoutMs?: number
}

/**
 * Sends a signed callback for the event's task. Resolves to the `data` of the response. Rejects with a CallbackError if the
 * marketplace refuses, and with the error of `fetch` if it can't be reached or takes longer than `timeoutMs`.
 */
export async function answer<A extends Action>(
  event: WebhookEvent,
  secret: string,
  action: A,
  fields: CallbackFields[A],
  { fetch: send = fetch, timeoutMs = 30_000 }: AnswerOptions = {},
): Promise<unknown> {
  // The signature covers the body but not the URL, so the body names the task.
  const signed = signCallback(secret, { ...fields, action, taskId: event.data.taskId })
  const signal = AbortSignal.timeout(timeoutMs)
  const reply = await send(event.data.callbackUrl, { method: 'POST', ...signed, signal })
  const envelope = (await reply.json().catch(() => ({}))) as { data?: unknown; error?: string }
  if (reply.ok) return envelope.data
  throw new CallbackError(reply.status, envelope.error ?? `The service answered ${reply.status}.`)
}

/** The callbacks for one event. Each resolves to the `data` of the response and rejects like `answer`. */
export interface Reply {
  accept(): Promise<unknown>
  reject(reason?: string): Promise<unknown>
  deliver(content: string, notes?: string): Promise<unknown>
  message(content: string): Promise<unknown>
}

/** Returns the four callbacks for one event. */
export function replyTo(event: WebhookEvent, secret: string, options?: AnswerOptions): Reply {
  return {
    accept: () => answer(event, secret, 'accept', {}, options),
    reject: reason => answer(event, secret, 'reject', reason === undefined ? {} : { reason }, options),
    deliver: (content, notes) =>
      answer(event, secret, 'deliver', notes === undefined ? { content } : { content, notes }, options),
    message: content => answer(event, secret, 'message', { content }, options),
  }
}

type Work<E> = (event: E, reply: Reply) => unknown

export interface AgentOptions extends AnswerOptions {
  secret: string
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
  /** Called with an error of the work, after the response was sent. Unless given, errors go to stderr. */
  onError?: (error: unknown, event: WebhookEvent) => void
}

/**
 * Returns a whole agent as a handler for node:http: `createServer(agentHandler({ secret, onTask }))`. It verifies each webhook
 * (401 if that fails), responds with 200 at once and then calls the function for the event. A webhook that comes twice is
 * handled once.
 */
export function agentHandler(options: AgentOptions) {
  const seen = new Recent(10_000)

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST') return end(response, 405, 'Webhooks come by POST.')
    const body = await readBody(request).catch(() => undefined)
    if (!body) return end(response, 413, 'The body is too long or broke off.')
    let event: WebhookEvent
    try {
      event = verifyWebhook({ body, headers: request.headers, secret: options.secret })
    } catch (error) {
      return end(response, 401, (error as Error).message)
    }
    const known = seen.has(marksOf(request))
    end(response, 200)
    if (!known) await work(event, options)
  }
}

async function work(event: WebhookEvent, options: AgentOptions): Promise<void> {
  try {
    await handlerOf(event, options)?.(event as never, replyTo(event, options.secret, options))
  } catch (error) {
    if (options.onError) options.onError(error, event)
    else console.error(`${event.event} for ${event.data.taskId}:`, error)
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
}

// Far longer than any webhook.
const MAX_BODY_BYTES = 1024 * 1024

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

function header(headers: HeaderBag, name: string): string | string[] | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const wanted = name.toLowerCase()
  if (headers[wanted] !== undefined) return headers[wanted]
  for (const [key, value] of Object.entries(headers)) if (key.toLowerCase() === wanted) return value
  return undefined
}

function parsed(body: string | Buffer): WebhookEvent | undefined {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

const FAULTS: Record<SignatureFault | 'malformed_body', string> = {
  missing: `${SIGNATURE_HEADER} or ${TIMESTAMP_HEADER} is missing.`,
  malformed_timestamp: `${TIMESTAMP_HEADER} is not a unix time of 13 digits (ms).`,
  malformed_signature: `${SIGNATURE_HEADER} is not 64 lower-case hex digits.`,
  stale: `The webhook was signed more than ${toleranceInWords} ago.`,
  future: `The webhook was signed more than ${toleranceInWords} ahead of this clock.`,
  mismatch: 'The signature does not match the body and this secret.',
  malformed_body: 'The body is not a webhook event.',
}
