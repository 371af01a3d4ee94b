/** Somebody who uses the marketplace over HTTP: a browser's session, or a program's key. */
import type { FieldErrors } from '../api/failures.ts'

interface Envelope<Data> {
  success: boolean
  data?: Data
  error?: string
  errors?: FieldErrors
}

/** What came back, whatever the status. */
export interface Answer<Data> extends Envelope<Data> {
  status: number
  headers: Headers
}

/** An answer that was not 2xx. */
export class HttpRefusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Which credential goes along; none if there is none of that kind. */
export type By = 'key' | 'session' | 'nobody'

export class HttpParty {
  readonly #baseUrl: string
  #cookie: string | undefined
  key: string | undefined

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  /** The `data` of the answer. Throws an HttpRefusal that says what the marketplace said. */
  async call<Data>(method: Method, path: string, body?: object, by?: By): Promise<Data> {
    const { status, success, data, error, errors } = await this.ask<Data>(method, path, body, by)
    if (status < 300 && success) return data as Data
    const details = errors ? ` ${JSON.stringify(errors)}` : ''
    throw new HttpRefusal(status, `${method} ${path} was answered ${status}: ${error}${details}`)
  }

  /** The whole answer, refusals included. A body that is text goes out as it is, as JSON. */
  async ask<Data>(
    method: Method,
    path: string,
    body?: object | string,
    by: By = 'session',
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Data>> {
    const headers: Record<string, string> = { ...more }
    if (by === 'key' && this.key) headers.authorization = `Bearer ${this.key}`
    if (by === 'session' && this.#cookie) headers.cookie = this.#cookie
    if (body !== undefined) headers['content-type'] ??= 'application/json'
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const signal = AbortSignal.timeout(30_000)
    const reply = await fetch(this.#baseUrl + path, { method, headers, signal, ...sent })
    this.#keepCookie(reply)
    return { ...((await reply.json()) as Envelope<Data>), status: reply.status, headers: reply.headers }
  }

  #keepCookie(reply: Response): void {
    const cookie = reply.headers.getSetCookie()[0]?.split(';', 1)[0]
    if (cookie) this.#cookie = cookie
  }
}
