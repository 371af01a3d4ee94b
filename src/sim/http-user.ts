/** Somebody who uses the marketplace over HTTP: a browser's session, or a program's key. */
import { type Client, clientOn } from '../client/client.ts'
import { type Answer, type By, type Fetch, type Method, Transport } from '../client/transport.ts'

export type { Answer, By, Method } from '../client/transport.ts'

/** An answer that was not 2xx. */
class HttpRefusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const PATIENCE_MS = 30_000

export class HttpUser {
  readonly #transport: Transport
  /** The same user, by the names of the endpoints. */
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

  /** The `data` of the answer. Throws an HttpRefusal that says what the marketplace said. */
  async call<Data>(method: Method, path: string, body?: object, by?: By): Promise<Data> {
    const { status, success, data, error, errors } = await this.ask<Data>(method, path, body, by)
    if (status < 300 && success) return data as Data
    const details = errors ? ` ${JSON.stringify(errors)}` : ''
    throw new HttpRefusal(status, `${method} ${path} was answered ${status}: ${error}${details}`)
  }

  /** The whole answer, refusals included. A body that is text goes out as it is, as JSON. */
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
