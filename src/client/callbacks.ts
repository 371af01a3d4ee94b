/** Sends signed callbacks. It needs only Node. Source: I-callback, A-261. */
import { setTimeout as wait } from 'node:timers/promises'
import { signatureHeaders } from '../api/signature.ts'
import { mayPass, pauseAfter } from './transport.ts'
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
  /** How often a callback is sent at most, while no response comes or one that may be another later; 8 unless given. */
  attempts?: number
  /** Once it has aborted, no callback is sent, and one that is under way or waits for its next attempt rejects with an AbortError. */
  signal?: AbortSignal
}

/** A signature is refused after five minutes. Until then the very same request gets the first response, and has no second effect. */
const SAME_REQUEST_MS = 240_000
const MOST_ATTEMPTS = 8

/**
 * Sends a signed callback for the event's task. Resolves to the `data` of the response. While none comes, or 408, 429 or 5xx, it is sent again,
 * after 200 ms, 400 ms and so on, or after what `Retry-After` says. Rejects with a CallbackError if the marketplace refuses, and with the error
 * of `fetch` if it can't be reached or takes longer than `timeoutMs`.
 */
export async function answer<A extends Action>(
  event: WebhookEvent,
  secret: string,
  action: A,
  fields: CallbackFields[A],
  options: AnswerOptions = {},
): Promise<unknown> {
  return answerSigned(event, secret, action, fields, options, { before: undefined, keep() {} })
}

/** When a callback was signed, for whoever has to send the very same bytes again. */
export interface SignedAt {
  /** Unix ms; undefined: never before. */
  readonly before: number | undefined
  /** Called before the first attempt with each signature. `at`: Unix ms. */
  keep(at: number): unknown
}

/** Like `answer`, with the signature of before while that is young enough. */
export async function answerSigned<A extends Action>(
  event: WebhookEvent,
  secret: string,
  action: A,
  fields: CallbackFields[A],
  { fetch: send = fetch, timeoutMs = 30_000, attempts = MOST_ATTEMPTS, signal }: AnswerOptions,
  { before, keep }: SignedAt,
): Promise<unknown> {
  const { callbackUrl, taskId } = event.data
  // The signature covers the body but not the URL, so the body names the task.
  const body = { ...fields, action, taskId }
  let signedAt = before !== undefined && isYoung(before) ? before : ownMoment()
  await keep(signedAt)
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted()
    const init = { method: 'POST', redirect: 'manual', ...signCallback(secret, body, signedAt) } as const
    const result = await asked(send(callbackUrl, { ...init, signal: patience(timeoutMs, signal) }))
    if ('data' in result) return result.data
    const pause = mayPass(result.status) ? pauseAfter(attempt, result.headers, Date.now()) : null
    if (pause === null || attempt >= attempts || signal?.aborted) throw result.error
    await wait(pause, undefined, signal && { signal })
    if (isYoung(signedAt)) continue
    signedAt = ownMoment()
    await keep(signedAt)
  }
}

const isYoung = (signedAt: number) => Math.abs(Date.now() - signedAt) <= SAME_REQUEST_MS

function patience(timeoutMs: number, signal: AbortSignal | undefined): AbortSignal {
  const late = AbortSignal.timeout(timeoutMs)
  return signal ? AbortSignal.any([late, signal]) : late
}

const MOST_AHEAD_MS = 1_000
let last = 0

/** Two callbacks with the same words in one millisecond would be one, as their signatures are equal. */
function ownMoment(): number {
  const now = Date.now()
  // A clock that was set back is right again.
  last = now > last || last - now > MOST_AHEAD_MS ? now : last + 1
  return last
}

type Result = { data: unknown } | { error: unknown; status?: number; headers?: Headers }

async function asked(response: Promise<Response>): Promise<Result> {
  try {
    const reply = await response
    const envelope = (await reply.json().catch(() => ({}))) as { data?: unknown; error?: string }
    if (reply.ok) return { data: envelope.data }
    const { status, headers } = reply
    return { error: new CallbackError(status, envelope.error ?? `The service answered ${status}.`), status, headers }
  } catch (error) {
    return { error }
  }
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
  return replyBy((action, fields) => answer(event, secret, action, fields, options))
}

export type Say = <A extends Action>(action: A, fields: CallbackFields[A]) => Promise<unknown>

export function replyBy(say: Say): Reply {
  return {
    accept: () => say('accept', {}),
    reject: reason => say('reject', reason === undefined ? {} : { reason }),
    deliver: (content, notes) => say('deliver', notes === undefined ? { content } : { content, notes }),
    message: content => say('message', { content }),
  }
}
