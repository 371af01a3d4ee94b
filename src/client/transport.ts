/** One request to a marketplace and its answer, whatever that is: all that the client knows of the network. */
import type { FieldErrors } from '../api/failures.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Which credential goes along; none if there is none of that kind. */
export type By = 'key' | 'session' | 'nobody'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Credentials {
  /** `svc_…` */
  apiKey?: string | undefined
  /** The session cookie as `name=value`; kept up to date with what the marketplace sets. */
  session?: string | undefined
}

export interface TransportOptions extends Credentials {
  /** Where the marketplace answers; a path in it is kept. */
  baseUrl: string
  fetch?: Fetch | undefined
}

export interface Sending {
  /** Text goes out as it is, as JSON. */
  body?: object | string | FormData | undefined
  by?: By | undefined
  headers?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
}

/** What came back, whatever the status. */
export interface Answer<Data = unknown> {
  status: number
  headers: Headers
  success: boolean
  data?: Data
  error?: string
  errors?: FieldErrors
}

/** There was no answer at all. */
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

  constructor({ baseUrl, apiKey, session, fetch = globalThis.fetch }: TransportOptions) {
    this.baseUrl = baseUrl.replace(/\/+$/, '')
    this.credentials = { apiKey, session }
    this.#fetch = fetch
  }

  /** Asks once. Rejects with an UnreachableError, or with the reason of the signal; never because of a status. */
  async ask<Data = unknown>(method: Method, path: string, sending: Sending = {}): Promise<Answer<Data>> {
    const reply = await this.send(method, path, sending)
    return (await answerIn(reply)) as Answer<Data>
  }

  /** The same, for an answer that may be no JSON. */
  async send(method: Method, path: string, sending: Sending): Promise<Response> {
    const { body, signal } = sending
    const init: RequestInit = { method, headers: this.#headersOf(sending), ...(signal && { signal }) }
    if (body !== undefined) init.body = isReady(body) ? body : JSON.stringify(body)
    try {
      const reply = await this.#fetch(this.baseUrl + path, init)
      this.#keepCookie(reply)
      return reply
    } catch (error) {
      // What fetch rejects with when the network is the reason; the end of a signal is another error.
      throw error instanceof TypeError ? new UnreachableError(this.baseUrl, error) : error
    }
  }

  #headersOf({ body, by = 'nobody', headers: more }: Sending): Record<string, string> {
    const { apiKey, session } = this.credentials
    const headers: Record<string, string> = { ...more }
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

/** What stands between client and marketplace may answer in another language. */
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
