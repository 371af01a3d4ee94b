/** One person with an address of his own, who calls the server and notes how long each answer took. */
import http from 'node:http'

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the data of the envelope
  data: any
  error: string | undefined
  ms: number
}

export class Caller {
  readonly #agent: http.Agent
  readonly #baseUrl: string
  credential: Record<string, string> = {}

  /** `address`: of the loopback range; the server sees it as the client's. */
  constructor(baseUrl: string, address: string) {
    this.#baseUrl = baseUrl
    // A socket of an agent is used again, as by any client; the option is handed on to each new one.
    this.#agent = new http.Agent({ keepAlive: true, localAddress: address } as http.AgentOptions)
  }

  /** Rejects if the connection breaks or no answer comes within a minute. */
  send(
    method: string,
    path: string,
    body?: object | string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const bytes = Buffer.isBuffer(body)
      ? body
      : body === undefined
        ? undefined
        : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const type = bytes && { 'content-type': 'application/json', 'content-length': String(bytes.length) }
    const from = performance.now()
    return new Promise((resolve, reject) => {
      const request = http.request(this.#baseUrl + path, {
        method,
        agent: this.#agent,
        headers: { ...type, ...this.credential, ...headers },
        timeout: 60_000,
      })
      request.on('timeout', () => request.destroy(new Error('no answer within a minute')))
      request.on('error', reject).on('response', response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk)).on('error', reject)
        response.on('end', () => {
          const ms = performance.now() - from
          const cookie = response.headers['set-cookie']?.[0]?.split(';', 1)[0]
          if (cookie) this.credential = { cookie }
          const { data, error } = envelope(Buffer.concat(chunks).toString())
          resolve({ status: response.statusCode!, data, error, ms })
        })
      })
      request.end(bytes)
    })
  }

  /** The data of an answer that must be 2xx. */
  async call(method: string, path: string, body?: object) {
    const { status, data, error } = await this.send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${error}`)
    return data
  }

  close(): void {
    this.#agent.destroy()
  }
}

function envelope(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
