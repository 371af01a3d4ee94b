/** Writes answers: the envelope, the headers every answer has, and the request's line in the log. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal, refuse } from '../api/failures.ts'
import type { RateCategory } from '../api/limits.ts'
import type { Market } from '../market/market.ts'
import { BusyError, ConstraintError, ContestedError } from '../store/db.ts'
import type { ArrivingBodies } from './arriving-bytes.ts'
import { Gone, isLargelyUnread, type Reading } from './body.ts'
import { clientAddress } from './client-address.ts'
import { isHttps } from './credentials.ts'
import { LARGE_BYTES, type UnreadResponses } from './unread-responses.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const LINGER_MS = 2000
const BUSY_SECONDS = 5
const STRICT_TRANSPORT = ['strict-transport-security', 'max-age=31536000']

// The process's own beginning and a count: unique, and far cheaper than chance for each request.
const beginning = randomBytes(6).toString('hex')
let count = 0

export const newRequestId = () => `${beginning}-${(++count).toString(36)}`

/** Answers to be written when all requests that have arrived by now are done with. */
let ready: Answer[] = []

interface Answer {
  res: ServerResponse
  status: number
  headers: string[]
  body: string | Buffer
}

// Waking a client that sleeps costs several times what an answer does; who reads the first finds the others there as well.
function sendTogether(answer: Answer): void {
  if (ready.length === 0) {
    setImmediate(() => {
      const answers = ready
      ready = []
      for (const { res, status, headers, body } of answers) res.writeHead(status, headers).end(body)
    })
  }
  ready.push(answer)
}

/** What polka adds to a request. */
export interface WebRequest extends IncomingMessage {
  path: string
  search: string
  query: Record<string, string | string[] | undefined>
  params: Record<string, string>
}

/** The state of the server that all requests share. */
export interface ServerState {
  readonly market: Market
  /** null: rate limits are off. */
  readonly takeRate: TakeRate | null
  readonly unread: UnreadResponses
  readonly arriving: ArrivingBodies
  /** How often it is looked whether enough of a body has come. */
  readonly bodyLookMs: number
  closing: boolean
}

export const failureText = ({ message, errors }: Refusal) => JSON.stringify({ success: false, error: message, errors })

/** Counts the request and puts the headers on its answer; returns the refusal if its window is used up. */
export type TakeRate = (call: Call, category: RateCategory) => Promise<Refusal | null>

/** One request and its answer. */
export class Call {
  readonly req: WebRequest
  readonly res: ServerResponse
  readonly server: ServerState
  readonly route: string | null
  readonly id = newRequestId()
  readonly started = performance.now()
  userId: string | null = null
  #answered = false
  /** Names and values that this answer has besides those of all. */
  headers: readonly string[] | null = null

  /** `route`: the path as the records write it; null if none has it. */
  constructor(state: ServerState, req: IncomingMessage, res: ServerResponse, route: string | null = null) {
    this.server = state
    this.req = req as WebRequest
    this.res = res
    this.route = route
  }

  /** The client's, as rate limits and the log know it. */
  get address(): string {
    return clientAddress(this.req, this.server.market.config.trustProxy)
  }

  /** Refuses what would make too many bytes wait for their readers; else counts them until they are out. */
  reserveBytes(bytes: number): void {
    const { unread } = this.server
    const { address } = this
    const refusal = unread.refusal(address, bytes)
    if (refusal) throw refusal
    unread.hold(this.res, address, bytes)
  }

  /** Refuses a question while its address reads none of its answers, before there is an answer. */
  refuseIfUnread(): void {
    const refusal = this.server.unread.total > 0 && this.server.unread.refusalOf(this.address)
    if (refusal) throw refusal
  }

  /** How its body is read: what has come is counted, and has to come at a pace. */
  get reading(): Reading {
    const { arriving, bodyLookMs } = this.server
    return { lookMs: bodyLookMs, begin: giveUp => arriving.begin(() => this.address, giveUp) }
  }

  json(status: number, text: string, cookie?: string) {
    const length = Buffer.byteLength(text)
    const body = length > LARGE_BYTES ? this.#counted(text, length) : text
    const headers = this.#headers(JSON_TYPE, length)
    if (cookie !== undefined) headers.push('set-cookie', cookie)
    this.#send(status, headers, body)
  }

  /** As bytes, which is what waits then. What has changed something is answered in any case. */
  #counted(text: string, length: number): Buffer {
    if (this.req.method === 'GET') this.reserveBytes(length)
    else this.server.unread.hold(this.res, this.address, length)
    return Buffer.from(text)
  }

  /** A page outside the envelope. */
  page(status: number, type: string, body: string | Buffer, more?: Readonly<Record<string, string>>) {
    const headers = this.#headers(type, Buffer.byteLength(body))
    if (more) addHeaders(headers, more)
    this.#send(status, headers, body)
  }

  /** The head of an answer whose body follows. */
  stream(status: number, type: string, length: number, more: Readonly<Record<string, string>>) {
    const headers = this.#headers(type, length)
    addHeaders(headers, more)
    this.res.writeHead(status, headers)
    this.#log(status)
  }

  refuse(refusal: Refusal) {
    const text = failureText(refusal)
    const headers = this.#headers(JSON_TYPE, Buffer.byteLength(text))
    addHeaders(headers, refusal.headers)
    if (isLargelyUnread(this.req)) this.#sendAndLinger(refusal.status, headers, text)
    else this.#send(refusal.status, headers, text)
  }

  /** Answers whatever was thrown. What is no refusal is our own fault, and its detail stays in the log. */
  fail(error: unknown) {
    if (error instanceof Gone) return
    if (this.#answered || this.res.headersSent) {
      this.#logFault(error)
      this.res.destroy()
      return
    }
    if (error instanceof Refusal) return this.refuse(error)
    if (hasLost(error)) return this.refuse(refuse('lost_race'))
    this.#logFault(error)
    this.refuse(error instanceof BusyError ? overloaded() : refuse('internal'))
  }

  #logFault(error: unknown) {
    const fault = error instanceof Error ? error : new Error(String(error))
    const { message, stack } = fault
    this.server.market.log({ type: 'error', message, ...(stack && { stack }), requestId: this.id })
  }

  /** Flat names and values: the form that Node writes without looking at each again. */
  #headers(type: string, length: number): string[] {
    const headers = [
      'content-type',
      type,
      'content-length',
      String(length),
      'x-request-id',
      this.id,
      'x-service-version',
      this.server.market.config.version,
      'cache-control',
      'no-store',
      'x-content-type-options',
      'nosniff',
    ]
    if (isHttps(this.server.market.config)) headers.push(...STRICT_TRANSPORT)
    if (this.headers) headers.push(...this.headers)
    if (this.server.closing) headers.push('connection', 'close')
    return headers
  }

  #send(status: number, headers: string[], body: string | Buffer) {
    this.#answered = true
    sendTogether({ res: this.res, status, headers, body })
    this.#log(status)
  }

  /**
   * Closing a socket with unread bytes resets it, and the client may lose the answer. So the answer goes first, and the
   * rest of the body is thrown away for a moment before the connection ends.
   */
  #sendAndLinger(status: number, headers: string[], text: string) {
    const { req, res } = this
    this.#answered = true
    if (!this.server.closing) headers.push('connection', 'close')
    // Not before what came with the head is parsed: if that is no HTTP, it is answered in another way, and at once.
    setImmediate(() => {
      res.writeHead(status, headers)
      res.write(text)
      const timer = setTimeout(() => res.end(), LINGER_MS)
      const end = () => {
        clearTimeout(timer)
        res.end()
      }
      req.once('end', end).once('close', end).resume()
    })
    this.#log(status)
  }

  #log(status: number) {
    this.server.market.log({
      type: 'request',
      method: this.req.method ?? '',
      path: this.req.path ?? pathOf(this.req.url ?? ''),
      route: this.route,
      status,
      ms: Math.round((performance.now() - this.started) * 100) / 100,
      requestId: this.id,
      userId: this.userId,
      address: this.address,
    })
  }
}

/** Against another at the same moment. */
const hasLost = (error: unknown) =>
  error instanceof ContestedError || (error instanceof ConstraintError && error.kind === 'unique')

function overloaded(): Refusal {
  const refusal = refuse('overloaded')
  refusal.headers = { 'retry-after': String(BUSY_SECONDS) }
  return refusal
}

function pathOf(target: string) {
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

function addHeaders(headers: string[], more: Readonly<Record<string, string>>) {
  for (const name in more) {
    const given = name.toLowerCase()
    const at = headers.indexOf(given)
    if (at !== -1 && at % 2 === 0) headers[at + 1] = more[name]!
    else headers.push(name, more[name]!)
  }
}
