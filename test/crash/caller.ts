/** Somebody who calls the marketplace and can tell an answer from a connection that was cut. */
import http from 'node:http'
import { checkAnswer } from '../support/contract.ts'

export interface Answer {
  status: number
  /** The `data` of the envelope. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the endpoint answers; the checks look at it
  data: any
  error: string | undefined
}

/** No whole answer came: whether the request had its effect is not known. */
export class Cut extends Error {}

export interface Message {
  path: string
  headers?: Record<string, string>
  /** An object goes as JSON. */
  body?: object | string | undefined
}

export class Caller {
  readonly #agent = new http.Agent({ keepAlive: true })
  readonly #baseUrl: string
  /** Goes with every request: a cookie or a key. */
  credential: Record<string, string> = {}

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  send(method: string, { path, headers = {}, body }: Message): Promise<Answer> {
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const type =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    return new Promise((resolve, reject) => {
      const cut = (error: Error) => reject(new Cut(`${method} ${path}: ${error.message}`))
      const request = http.request(this.#baseUrl + path, {
        method,
        agent: this.#agent,
        headers: { ...type, ...this.credential, ...headers },
      })
      request.on('error', cut).on('response', response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk)).on('error', cut)
        response.on('close', () => {
          if (!response.complete) return cut(new Error('half an answer'))
          const cookie = response.headers['set-cookie']?.[0]?.split(';', 1)[0]
          if (cookie) this.credential = { cookie }
          const [status, text] = [response.statusCode!, Buffer.concat(chunks).toString()]
          try {
            checkAnswer(method, path.split('?')[0]!, status, text)
          } catch (error) {
            return reject(error)
          }
          const { data, error } = JSON.parse(text)
          resolve({ status, data, error })
        })
      })
      request.end(text)
    })
  }

  /** The data of an answer that must be 2xx. */
  async call(method: string, path: string, body?: object) {
    const { status, data, error } = await this.send(method, { path, body })
    if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${error}`)
    return data
  }

  /** The data of a GET. It is asked once more if it was cut, as a kept connection may lead to a server that was killed. */
  async read(path: string) {
    return this.call('GET', path).catch(error => {
      if (error instanceof Cut) return this.call('GET', path)
      throw error
    })
  }

  close() {
    this.#agent.destroy()
  }
}

/** All who call a server of one test. */
export class Callers {
  readonly #all: Caller[] = []

  add(url: string): Caller {
    const added = new Caller(url)
    this.#all.push(added)
    return added
  }

  close(): void {
    for (const caller of this.#all.splice(0)) caller.close()
  }
}
