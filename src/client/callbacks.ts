/** Sends signed callbacks. It needs only Node. Source: I-callback. */
import { signatureHeaders } from '../api/signature.ts'
import type { WebhookEvent } from './webhook-events.ts'

/** The marketplace refused a callback. `status` is the HTTP status, `message` its sentence. */
export class CallbackError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'CallbackError'
    this.status = status
  }
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
