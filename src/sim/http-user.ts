/** A user of the marketplace over HTTP, with a session like a browser's or with an API key. */

import { type Answer, type By, type Fetch, type Method, Transport } from '../client/transport.ts'
import { type Client, clientOn } from '../client/typed-client.ts'

export type { Answer, By, Method } from '../client/transport.ts'

/** A response that was not 2xx. */
class HttpRefusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** More than a busy machine takes for the dearest request, such as a month of the clock. */
const PATIENCE_MS = 120_000

export class HttpUser {
  readonly #transport: Transport
  /** A typed client with the same credentials. */
  readonly client: Client

  constructor(baseUrl: string, fetch?: Fetch) {
    this.#transport = new Transport({ baseUrl, fetch })
    this.client = clientOn(this.#transport)
  }

  get key(): string | undefined {
    return this.#transport.credentials.apiKey
  }

  set key(key: string | undefined) {
    this.#transport.credentials.apiKey = key
  }

  /** Sends a request and returns the `data` of the response. Throws an HttpRefusal with the marketplace's message. */
  async call<Data>(method: Method, path: string, body?: object, by?: By): Promise<Data> {
    const { status, success, data, error, errors } = await this.ask<Data>(method, path, body, by)
    if (status < 300 && success) return data as Data
    const details = errors ? ` ${JSON.stringify(errors)}` : ''
    throw new HttpRefusal(status, `${method} ${path} was answered ${status}: ${error}${details}`)
  }

  /** Sends a request and returns the whole response, also if it is a refusal. A text body is sent as it is, as JSON. */
  ask<Data>(
    method: Method,
    path: string,
    body?: object | string,
    by: By = 'session',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Data>> {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    return this.#transport.ask<Data>(method, path, { body, by, headers, signal })
  }
}
