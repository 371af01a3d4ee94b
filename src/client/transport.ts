/** Sends one request to a marketplace and reads the response. All that the client knows of the network is here. */

import type { FieldErrors } from '../api/failures.ts'
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Which credential is sent. If there is none of that kind, none is. */
export type By = 'key' | 'session' | 'nobody'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Credentials {
  /** An API key, `svc_…`. */
  apiKey?: string | undefined
  /** The session cookie as `name=value`. It is updated whenever the marketplace sets it. */
  session?: string | undefined
}

export interface TransportOptions extends Credentials {
  /** The base URL of the marketplace. It may have a path. */
  baseUrl: string
  fetch?: Fetch | undefined
  /** The User-Agent; that of fetch unless given. */
  userAgent?: string | undefined
}

export interface Sending {
  /** An object is sent as JSON, a text as it is with the content type of JSON. */
  body?: object | string | FormData | undefined
  by?: By | undefined
  headers?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
}

/** A response of any status, parsed from the envelope. */
export interface Answer<Data = unknown> {
  status: number
  headers: Headers
  success: boolean
  data?: Data
  error?: string
  errors?: FieldErrors
}

/** There was no response at all: the marketplace does not run, or the network failed. `cause` is the error of fetch. */
export class UnreachableError extends Error {
  constructor(baseUrl: string, cause: unknown) {
    super(`${baseUrl} does not answer: ${reasonOf(cause)}`, { cause })
    this.name = 'UnreachableError'
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? message ?? String(error)
}

export class Transport {
  readonly baseUrl: string
  readonly credentials: Credentials
  readonly #fetch: Fetch
  readonly #userAgent: string | undefined

  constructor({ baseUrl, apiKey, session, fetch = globalThis.fetch, userAgent }: TransportOptions) {
    this.baseUrl = baseUrl.replace(/\/+$/, '')
    this.credentials = { apiKey, session }
    this.#fetch = fetch
    this.#userAgent = userAgent
  }

  /** Sends a request once. Rejects with an UnreachableError or with the signal's reason, but never because of a status. */
  async ask<Data = unknown>(method: Method, path: string, sending: Sending = {}): Promise<Answer<Data>> {
    const reply = await this.send(method, path, sending)
    return (await answerIn(reply)) as Answer<Data>
  }

  /** Like `ask`, but returns the raw response, which may not be JSON. */
  async send(method: Method, path: string, sending: Sending): Promise<Response> {
    const { body, signal } = sending
    const init: RequestInit = { method, headers: this.#headersOf(sending), ...(signal && { signal }) }
    if (body !== undefined) init.body = isReady(body) ? body : JSON.stringify(body)
    try {
      const reply = await this.#fetch(this.baseUrl + path, init)
      this.#keepCookie(reply)
      return reply
    } catch (error) {
      // fetch rejects with a TypeError if the network failed. An aborted signal gives another error.
      throw error instanceof TypeError ? new UnreachableError(this.baseUrl, error) : error
    }
  }

  #headersOf({ body, by = 'nobody', headers: more }: Sending): Record<string, string> {
    const { apiKey, session } = this.credentials
    const headers: Record<string, string> = { ...(this.#userAgent && { 'user-agent': this.#userAgent }), ...more }
    if (by === 'key' && apiKey) headers.authorization = `Bearer ${apiKey}`
    if (by === 'session' && session) headers.cookie = session
    if (body !== undefined && !(body instanceof FormData)) headers['content-type'] ??= 'application/json'
    return headers
  }

  #keepCookie({ headers }: Response): void {
    const cookie = headers.getSetCookie().find(text => /^(?:__Host-)?session=/.test(text))
    const pair = cookie?.split(';', 1)[0]
    if (pair) this.credentials.session = pair.endsWith('=') ? undefined : pair
  }
}

const isReady = (body: object | string): body is FormData | string =>
  typeof body === 'string' || body instanceof FormData

/** Parses a response. One that is not ours, as from a proxy, becomes an answer with `success: false`. */
export async function answerIn(reply: Response): Promise<Answer> {
  const { status, headers } = reply
  return { ...envelopeIn(await reply.text(), status), status, headers }
}

function envelopeIn(text: string, status: number): Pick<Answer, 'success' | 'data' | 'error' | 'errors'> {
  try {
    const value = JSON.parse(text)
    if (typeof value?.success === 'boolean') return value
  } catch {}
  return { success: false, error: `The answer ${status} is not the marketplace's: ${text.slice(0, 200)}` }
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 300_000

/** Whether the same request may get another response later. `status`: undefined if none came. */
export const mayPass = (status: number | undefined) =>
  status === undefined || status === 408 || status === 429 || status >= 500

/** The pause after this attempt, in ms: as long as is asked, or twice the last one. null: longer than anybody should wait. `now`: Unix ms. */
export function pauseAfter(attempt: number, headers: Headers | undefined, now: number): number | null {
  const wait = Math.max(FIRST_PAUSE_MS * 2 ** (attempt - 1), askedMs(headers?.get('retry-after'), now))
  return wait > LONGEST_PAUSE_MS ? null : wait
}

/** In seconds or as a date. */
function askedMs(header: string | null | undefined, now: number): number {
  if (!header) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? 0 : ms
}
