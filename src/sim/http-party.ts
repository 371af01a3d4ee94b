/** Somebody who uses the marketplace over HTTP: a browser's session, or a program's key. */

interface Envelope {
  success: boolean
  data?: unknown
  error?: string
  errors?: Record<string, string[]>
}

/** An answer that was not 2xx. */
export class HttpRefusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export class HttpParty {
  readonly #baseUrl: string
  #cookie: string | undefined
  /** While set, it is sent instead of the session. */
  key: string | undefined

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  /** The `data` of the answer. Throws an HttpRefusal that says what the marketplace said. */
  async call<Data>(method: Method, path: string, body?: object, by: 'key' | 'session' = 'session'): Promise<Data> {
    const headers: Record<string, string> = {}
    if (by === 'key' && this.key) headers.authorization = `Bearer ${this.key}`
    else if (this.#cookie) headers.cookie = this.#cookie
    if (body) headers['content-type'] = 'application/json'
    const signal = AbortSignal.timeout(30_000)
    const request: RequestInit = { method, headers, signal, ...(body ? { body: JSON.stringify(body) } : {}) }
    const reply = await fetch(this.#baseUrl + path, request)
    this.#keepCookie(reply)
    const envelope = (await reply.json()) as Envelope
    if (reply.ok && envelope.success) return envelope.data as Data
    const details = envelope.errors ? ` ${JSON.stringify(envelope.errors)}` : ''
    throw new HttpRefusal(reply.status, `${method} ${path} was answered ${reply.status}: ${envelope.error}${details}`)
  }

  #keepCookie(reply: Response): void {
    const cookie = reply.headers.getSetCookie()[0]?.split(';', 1)[0]
    if (cookie) this.#cookie = cookie
  }
}
