/** HTTP by hand over one socket: whatever a client may send, byte by byte, and what comes back. */
import net from 'node:net'
import type { Duplex } from 'node:stream'
import { checkAnswer } from './contract.ts'

export interface WireAnswer {
  status: number
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  /** Head and body as they came. */
  text: string
  body: string
}

export type WireHeader = readonly [name: string, value: string]

/** The bytes of one request. Its length is told unless the headers tell one. */
export function requestBytes(
  method: string,
  target: string,
  headers: readonly WireHeader[],
  body: string | Buffer = '',
) {
  const bytes = Buffer.from(body)
  const told = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name))
  const all = told ? headers : [...headers, ['content-length', String(bytes.length)] as const]
  const head = [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`)].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), bytes])
}

/** One connection. Answers come in the order of the requests. */
export class Wire {
  readonly host: string
  readonly #socket: Duplex
  #received = Buffer.alloc(0)
  #wake = () => {}
  ended = false
  /** How often it was told to go on. */
  invitations = 0

  /** `socket`: an open connection to that URL. */
  constructor(url: string, socket?: Duplex) {
    const { hostname, port, host } = new URL(url)
    this.host = host
    this.#socket = socket ?? net.connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.on('data', chunk => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    const end = () => {
      this.ended = true
      this.#wake()
    }
    this.#socket.on('end', end).on('close', end).on('error', end)
  }

  /** Resolves once the system has taken the bytes; also when the other side has gone. */
  write(bytes: Buffer): Promise<void> {
    return new Promise(resolve => this.#socket.write(bytes, () => resolve()))
  }

  /** The next answer; null if the connection ended before it. */
  async answer(toHead = false): Promise<WireAnswer | null> {
    for (;;) {
      const answer = this.#nextResponse(toHead)
      if (answer && answer.status !== 100) return answer
      if (answer) {
        this.invitations++
        continue
      }
      if (this.ended) return null
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  /** Nothing more will be sent; answers may still come. */
  end(): void {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
  }

  #nextResponse(toHead: boolean): WireAnswer | undefined {
    const head = this.#received.indexOf('\r\n\r\n')
    if (head === -1) return undefined
    const [first = '', ...lines] = this.#received.toString('latin1', 0, head).split('\r\n')
    const headers = Object.fromEntries(
      lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = toHead ? 0 : Number(headers['content-length'] ?? 0)
    const end = head + 4 + length
    if (this.#received.length < end) return undefined
    const text = this.#received.toString('utf8', 0, end)
    const body = this.#received.toString('utf8', head + 4, end)
    this.#received = this.#received.subarray(end)
    return { status: Number(first.split(' ')[1]), headers, text, body }
  }
}

/** One request on a connection of its own. */
export async function exchange(
  url: string,
  method: string,
  target: string,
  headers: readonly WireHeader[] = [],
  body: string | Buffer = '',
): Promise<WireAnswer> {
  const wire = new Wire(url)
  try {
    const request = requestBytes(method, target, [['host', wire.host], ...headers], body)
    await wire.write(request)
    const answer = await wire.answer(method === 'HEAD')
    if (!answer) throw new Error(`${method} ${target} was left without an answer`)
    checkExchange(request, answer)
    return answer
  } finally {
    wire.close()
  }
}

/** Holds what came back against the record of its endpoint. Files, pages and metrics are outside the envelope. */
export function checkExchange(request: Buffer, { status, headers, body }: WireAnswer): void {
  const [method = '', target = ''] = request.toString('latin1', 0, request.indexOf('\r\n')).split(' ')
  const isJson = /^application\/json/.test(headers['content-type'] ?? '')
  if (method === 'HEAD' || !target.startsWith('/api/') || !isJson || headers['content-disposition']) return
  // Whatever is malformed is refused, also where a record names no 400, as nobody sends a body there. Source: A-48.
  const path = status === 400 && method === 'GET' ? '' : target.split(/[?#]/)[0]!.replace(/\/$/, '')
  checkAnswer(method, path, status, body)
}
