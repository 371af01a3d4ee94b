/** Connections to one marketplace that are used again, as clients do. */
import { checkExchange, requestBytes, Wire, type WireAnswer, type WireHeader } from '../support/wire.ts'

/** A connection that rests is ended by the server after five seconds. */
const WIRE_RESTS_MS = 2_000

interface Connection {
  readonly wire: Wire
  free: boolean
  usedAt: number
}

export class Connections {
  readonly #url: string
  readonly #all: Connection[] = []

  constructor(url: string) {
    this.#url = url
  }

  exchange = async (
    method: string,
    target: string,
    headers: readonly WireHeader[],
    body: string | Buffer = '',
  ): Promise<WireAnswer> => {
    const connection = this.#acquire()
    const request = requestBytes(method, target, [['host', '127.0.0.1'], ...headers], body)
    await connection.wire.write(request)
    const answer = await connection.wire.answer(method === 'HEAD')
    if (!answer) throw new Error(`${method} ${target} at ${this.#url} was left without an answer`)
    checkExchange(request, answer)
    connection.usedAt = performance.now()
    connection.free = answer.headers.connection !== 'close'
    return answer
  }

  close(): void {
    for (const { wire } of this.#all) wire.close()
  }

  #acquire(): Connection {
    const now = performance.now()
    let connection = this.#all.find(({ wire, free, usedAt }) => free && !wire.ended && now - usedAt < WIRE_RESTS_MS)
    if (!connection) {
      connection = { wire: new Wire(this.#url), free: true, usedAt: now }
      this.#all.push(connection)
    }
    connection.free = false
    return connection
  }
}
