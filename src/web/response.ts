/** Writes responses: the envelope, the headers of every response, and the request's log entry. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ParsedUrlQuery, parse } from 'node:querystring'
import { Refusal, refuse } from '../api/failures.ts'
import { limits, type RateCategory } from '../api/limits.ts'
import type { Exchange } from '../market/exchange.ts'
import type { Market } from '../market/market.ts'
import type { Tracing } from '../market/tracing.ts'
import type { Debug } from '../shared/debug.ts'
import { AwayError, BusyError, ConstraintError, ContestedError, isTold, TooMuchError } from '../store/db.ts'
import type { ArrivingBodies } from './bodies/arriving-bytes.ts'
import type { ArrivingFiles } from './bodies/arriving-files.ts'
import { Gone, isLargelyUnread, type Reading } from './bodies/body.ts'
import { LARGE_BYTES, type UnreadResponses } from './bodies/unread-responses.ts'
import { isHttps } from './credentials.ts'
import { detailsForBuilder, requestDetails } from './debug.ts'
import { JsonPieces } from './pieces.ts'
import { inSlices, lengthOf } from './slices.ts'
import { clientAddress } from './sockets/client-address.ts'
import type { EventStreams } from './stream.ts'
import type { Turns } from './turns.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
export const HTML_TYPE = 'text/html; charset=utf-8'
const LINGER_MS = 2000
const MOST_OF_PAGE = `${limits.page.mebibytes} MiB`
const STRICT_TRANSPORT = ['strict-transport-security', 'max-age=31536000']

// A random prefix for the process and a counter: unique, and far cheaper than a random id for each request.
const beginning = randomBytes(6).toString('hex')
let count = 0

/** What a log line may hold of another's id. */
const REQUEST_ID = /^[\w.:-]{8,128}$/

export const newRequestId = () => `${beginning}-${(++count).toString(36)}`

/** Responses that are written once all requests that have arrived by now are handled. */
let ready: Ready[] = []

/** A response as it is handed to Node, which adds its own headers. */
export interface Sent<Body = string | Buffer | readonly Buffer[]> {
  readonly status: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: Body
}

interface Ready extends Sent {
  res: ServerResponse
  headers: string[]
}

// Waking a sleeping client costs several times as much as writing a response. A client that reads the first response finds
// the others there too.
function sendTogether(one: Ready): void {
  if (ready.length === 0) {
    setImmediate(() => {
      const together = ready
      ready = []
      for (const { res, status, headers, body } of together) write(res.writeHead(status, headers), body)
    })
  }
  ready.push(one)
}

function write(res: ServerResponse, body: Sent['body']): void {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return void res.end(body)
  for (const slice of body) res.write(slice)
  res.end()
}

/** What polka adds to a request. */
export interface WebRequest extends IncomingMessage {
  path: string
  search: string
  params: Record<string, string>
}

/** The state of the server that all requests share. */
export interface ServerState {
  readonly market: Market
  /** null: rate limits are off. */
  readonly countRequest: CountRequest | null
  readonly unread: UnreadResponses
  readonly arriving: ArrivingBodies
  readonly streams: EventStreams
  readonly arrivingFiles: ArrivingFiles
  readonly turns: Turns
  readonly tracing: Tracing
  /** How often the pace of a body is checked. */
  readonly bodyLookMs: number
  /** undefined: requests are not watched. */
  readonly debug: Debug | undefined
  closing: boolean
}

export const failureText = ({ message, errors, hint }: Refusal) =>
  JSON.stringify({ success: false, error: message, errors, hint })

/** Returns what people read instead of a refusal. */
export type RefusalPage = (
  refusal: Refusal,
  call: Call,
) => { readonly body: string; readonly headers: Readonly<Record<string, string>> }

/** Counts the request and sets the rate-limit headers of its response. Returns a refusal if the limit is exceeded. */
export type CountRequest = (call: Call, category: RateCategory) => Promise<Refusal | null>

/** One request and its response. */
export class Call {
  readonly req: WebRequest
  readonly res: ServerResponse
  readonly server: ServerState
  readonly route: string | null
  /** Taken from a proxy that is trusted, else made here. */
  readonly id: string
  /** Of the response, once it is known. */
  status = 0
  readonly #started = performance.now()
  userId: string | null = null
  #address: string | null = null
  #query: ParsedUrlQuery | null = null
  #flow: string | null = null
  #refusal: Refusal | null = null
  /** What a simulator has recorded of it. */
  exchange: Exchange | null = null
  #responded = false
  /** Additional headers of this response, as flat names and values. */
  headers: readonly string[] | null = null
  /** Makes the page that a refusal is shown as; null: it is sent in the envelope. */
  refusalPage: RefusalPage | null = null
  /** Takes the response when it is sent. */
  onSent: ((sent: Sent<string | Buffer>) => void) | null = null

  /** `route`: the path as the records write it, with parameters; null if no record has it. */
  constructor(state: ServerState, req: IncomingMessage, res: ServerResponse, route: string | null = null) {
    this.server = state
    this.req = req as WebRequest
    this.res = res
    this.route = route
    const given = this.fromTrusted('x-request-id')
    this.id = given !== undefined && REQUEST_ID.test(given) ? given : newRequestId()
  }

  /** A header that somebody else's word is not taken for: of a proxy, or in a simulator. */
  fromTrusted(name: 'x-request-id' | 'traceparent'): string | undefined {
    const { trustProxy, mode } = this.server.market.config
    const value = trustProxy > 0 || mode === 'dev' ? this.req.headers[name] : undefined
    return typeof value === 'string' ? value : undefined
  }

  get query(): ParsedUrlQuery {
    this.#query ??= parse(this.req.search.slice(1))
    return this.#query
  }

  /** The client's address, as rate limits and the log have it. */
  get address(): string {
    this.#address ??= clientAddress(this.req, this.server.market.config.trustProxy)
    return this.#address
  }

  /** Whose turns it takes: those of its account, else of its address. */
  get flow(): string {
    this.#flow ??= this.address
    return this.#flow
  }

  set flow(account: string) {
    this.#flow = account
  }

  /** Why it was refused. */
  get refusal(): Refusal | null {
    return this.#refusal
  }

  /** How long the request has taken so far. */
  get ms(): number {
    return performance.now() - this.#started
  }

  /** Counts the bytes until the response is sent. Refuses if too many bytes would wait for their readers. */
  reserveBytes(bytes: number): void {
    const { unread } = this.server
    const refusal = unread.refusal(this, bytes)
    if (refusal) throw refusal
    unread.count(this.res, this, bytes)
  }

  /** Refuses a request early while its account or address has too many unread responses. */
  refuseIfUnread(): void {
    const refusal = this.server.unread.total > 0 && this.server.unread.refusalOf(this)
    if (refusal) throw refusal
  }

  /** How the body is read: its bytes are counted, and have to come at a minimum rate. */
  get reading(): Reading {
    const { arriving, bodyLookMs } = this.server
    return { lookMs: bodyLookMs, begin: giveUp => arriving.begin(() => this.address, giveUp) }
  }

  /** A response to HEAD, whose body nobody has made. */
  head(status: number, type = JSON_TYPE, more: Readonly<Record<string, string>> = {}) {
    const headers = this.#headers(type, null)
    addHeaders(headers, more)
    this.#send(status, headers, '')
  }

  /** The response to GET. */
  async answer(status: number, data: unknown): Promise<void> {
    const body = await inSlices(this, new JsonPieces({ success: true, data: data === undefined ? null : data }))
    if (typeof body === 'string') this.json(status, body)
    else this.#send(status, this.#headers(JSON_TYPE, lengthOf(body)), body)
  }

  json(status: number, text: string, cookie?: string) {
    const length = Buffer.byteLength(text)
    const body = length > LARGE_BYTES ? this.#counted(text, length) : text
    const headers = this.#headers(JSON_TYPE, length)
    if (cookie !== undefined) headers.push('set-cookie', cookie)
    this.#send(status, headers, body)
  }

  /** Converts a large response to bytes and counts them. A request that has changed something always gets its response. */
  #counted(text: string, length: number): Buffer {
    if (this.req.method === 'GET') this.reserveBytes(length)
    else this.server.unread.count(this.res, this, length)
    return Buffer.from(text)
  }

  /** Sends a page outside the envelope. */
  page(status: number, type: string, body: Sent['body'], more?: Readonly<Record<string, string>>) {
    const headers = this.#headers(type, status === 304 ? null : lengthOf(body))
    if (more) addHeaders(headers, more)
    this.#send(status, headers, body)
  }

  /** Sends the head of a response whose body follows. `length`: null if nobody knows it. */
  stream(status: number, type: string, length: number | null, more: Readonly<Record<string, string>>) {
    const headers = this.#headers(type, length)
    addHeaders(headers, more)
    this.res.writeHead(status, headers)
    this.#log(status)
  }

  refuse(refusal: Refusal) {
    this.#refusal = refusal
    const page = this.refusalPage?.(refusal, this)
    const text = page?.body ?? failureText(refusal)
    const headers = this.#headers(page ? HTML_TYPE : JSON_TYPE, Buffer.byteLength(text))
    if (page) addHeaders(headers, page.headers)
    addHeaders(headers, refusal.headers)
    if (isLargelyUnread(this.req)) this.#sendAndLinger(refusal.status, headers, text)
    else this.#send(refusal.status, headers, text)
  }

  /** Responds to whatever was thrown. An error that is no refusal is our own fault; its details go only to the log. */
  fail(error: unknown) {
    if (error instanceof Gone) return
    if (this.#responded || this.res.headersSent) {
      this.#logFault(error)
      this.res.destroy()
      return
    }
    if (error instanceof Refusal) return this.refuse(error)
    if (hasLost(error)) return this.refuse(refuse('lost_race'))
    if (error instanceof TooMuchError) return this.refuse(refuse('page_too_large', error.fit, MOST_OF_PAGE))
    this.#logFault(error)
    if (isAway(error)) return this.refuse(refuse('database_away'))
    this.refuse(refuse(error instanceof BusyError ? 'overloaded' : 'internal'))
  }

  #logFault(error: unknown) {
    const fault = error instanceof Error ? error : new Error(String(error))
    const { message, stack } = fault
    // The line of the request says that the database was away.
    if (isTold(error)) return
    this.server.market.log({ type: 'error', message, ...(stack && { stack }), requestId: this.id })
  }

  /** Flat names and values, which Node writes without processing each one again. */
  #headers(type: string, length: number | null): string[] {
    const headers = [
      'content-type',
      type,
      'x-request-id',
      this.id,
      'x-service-version',
      this.server.market.config.version,
      'cache-control',
      'no-store',
      'x-content-type-options',
      'nosniff',
    ]
    if (length !== null) headers.push('content-length', String(length))
    if (isHttps(this.server.market.config)) headers.push(...STRICT_TRANSPORT)
    if (this.headers) headers.push(...this.headers)
    if (this.server.closing) headers.push('connection', 'close')
    return headers
  }

  #send(status: number, headers: string[], body: Sent['body']) {
    this.#responded = true
    sendTogether({ res: this.res, status, headers, body })
    if (typeof body === 'string' || Buffer.isBuffer(body)) this.onSent?.({ status, headers, body })
    this.#log(status)
  }

  /**
   * Closing a socket with unread bytes resets the connection, and the client may lose the response. So the response goes
   * first, and the rest of the body is read and dropped for a moment before the connection ends.
   */
  #sendAndLinger(status: number, headers: string[], text: string) {
    const { req, res } = this
    this.#responded = true
    if (!this.server.closing) headers.push('connection', 'close')
    // Waits until what came with the head is parsed: if that is not HTTP, the parser's error is the response.
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
    this.onSent?.({ status, headers, body: text })
    this.#log(status)
  }

  #log(status: number) {
    this.status = status
    const { market, debug } = this.server
    const { id: requestId, route } = this
    const { method = '' } = this.req
    const ms = Math.round(this.ms * 100) / 100
    market.log({
      type: 'request',
      method,
      path: this.req.path ?? pathOf(this.req.url ?? ''),
      route,
      status,
      ms,
      requestId,
      userId: this.userId,
      address: this.address,
      ...(this.#refusal && { refusal: this.#refusal.code }),
      ...(market.recording &&
        detailsForBuilder({ market, req: this.req, route, refusal: this.#refusal, exchange: this.exchange })),
    })
    if (debug) debug({ requestId, method, route, status, ms, ...requestDetails(this.req, this.#refusal) })
  }
}

/** Whether the error means that another request changed the same rows at the same moment. */
const hasLost = (error: unknown) =>
  error instanceof ContestedError || (error instanceof ConstraintError && error.kind === 'unique')

export const isAway = (error: unknown) => error instanceof AwayError

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
