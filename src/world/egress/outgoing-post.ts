/** One POST and its response, within a deadline and a size. Source: A-42. */
import type { Dispatcher } from 'undici'
import { type HeaderLines, linesOf } from '../header-lines.ts'
import type { Outgoing, OutgoingFailure, OutgoingResult, ResponseHeaders, Wire } from '../world.ts'
import { ConnectError } from './connect.ts'
import { isMalformed } from './undici-internals.ts'

/** Collects the response and settles exactly once. The deadline starts at construction. */
export class OutgoingPost implements Dispatcher.DispatchHandler {
  readonly request: Outgoing
  readonly result: Promise<OutgoingResult>
  #settle!: (result: OutgoingResult) => void
  #onEnd: (() => void) | undefined
  #ended = false
  readonly #startedAt = performance.now()
  readonly #stalledMs = watchStalls()
  readonly #deadline: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: ResponseHeaders = {}
  #chunks: Buffer[] = []
  #size = 0
  #begunAt = 0
  #repeats = 0
  /**
   * Called when a connection ends before an answer begins. Returns whether the request is sent again: it is if the connection was kept from
   * an earlier one, as the other side may have closed it before it saw this request (RFC 9112, 9.3.1). Source: A-285.
   */
  onReset: ((error: Error, begunAt: number) => boolean) | undefined
  /** Returns the headers that are written; asked only if somebody wants to see them. */
  sentHeaders: () => HeaderLines = () => []
  #rawHeaders: readonly string[] = []

  constructor(request: Outgoing) {
    this.request = request
    this.result = new Promise(settle => {
      this.#settle = settle
    })
    this.#deadline = setTimeout(() => setImmediate(() => this.#timeOut()), request.timeoutMs)
  }

  /** Calls `work` when it has ended; at once if it has already. */
  onEnd(work: () => void): void {
    if (this.#ended) work()
    else this.#onEnd = work
  }

  fail(reason: OutgoingFailure, message: string, unclear = false): void {
    this.#end({ ok: false, reason, message, durationMs: this.#elapsed(), ...(unclear && { unclear }) })
    this.#cut()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#begunAt = performance.now()
    if (this.#ended) this.#cut()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (this.request.keepsWire) this.#rawHeaders = textsOf(controller.rawHeaders)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    const room = this.request.maxResponseBytes - this.#size
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    this.#size += chunk.length
    if (chunk.length <= room) return
    this.#complete()
    this.#cut()
  }

  onResponseEnd(): void {
    this.#complete()
  }

  onResponseError(_controller: unknown, error: Error & { code?: string }): void {
    if (error instanceof ConnectError) {
      // It has reached somebody before, who has closed the connection on it.
      if (this.#repeats > 0) this.fail('reset', CLOSED)
      else this.fail(error.reason, error.message, error.unclear)
    } else if (error.code === 'UND_ERR_INVALID_ARG') {
      this.fail('bad_url', 'The request could not be written: its path or one of its headers is not allowed.')
    } else if (isMalformed(error)) {
      this.fail('bad_answer', 'The answer is not proper HTTP, or its headers are longer than 16 KB.')
    } else if (!this.#isRepeated(error)) {
      this.fail('reset', CLOSED)
    }
  }

  #isRepeated(error: Error): boolean {
    if (this.#ended || this.#status !== 0 || this.#repeats === MOST_REPEATS) return false
    this.#repeats += 1
    return this.onReset?.(error, this.#begunAt) ?? false
  }

  #complete(): void {
    const body = (this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)).toString()
    this.#end({ ok: true, status: this.#status, headers: this.#headers, body, durationMs: this.#elapsed() })
  }

  // Runs one turn of the event loop after the deadline. By then, data that came while the process stood still was read.
  #timeOut(): void {
    if (this.#ended) return
    const seconds = this.request.timeoutMs / 1000
    const what = this.#status ? 'The answer did not end' : 'No answer came'
    this.fail('timeout', `${what} within ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`, true)
  }

  #end(result: OutgoingResult): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#deadline)
    if (this.request.keepsWire) result.wire = this.#wire()
    this.#chunks = []
    const stalledMs = this.#stalledMs()
    const isOurs = !result.ok && result.reason === 'timeout' && stalledMs > MOST_STALLED_MS
    this.#settle(isOurs ? { ...result, reason: 'own_fault', message: stoodStill(stalledMs) } : result)
    this.#onEnd?.()
  }

  #wire(): Wire {
    return new KeptWire({
      sentHeaders: this.sentHeaders,
      status: this.#status || null,
      rawHeaders: this.#rawHeaders,
      body: this.#size === 0 ? NO_BYTES : Buffer.concat(this.#chunks),
      isCut: this.#size > this.request.maxResponseBytes,
    })
  }

  // Destroys the socket, so the rest of the response is never read.
  #cut(): void {
    this.#controller?.abort(OVER)
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#startedAt)
  }
}

/** `raw`: names and values in turn, as undici read them. */
const textsOf = (raw: Dispatcher.DispatchController['rawHeaders']) => (Array.isArray(raw) ? raw.map(textOf) : [])
const textOf = (part: Buffer | string) => (typeof part === 'string' ? part : part.toString('latin1'))

/** If the process stood still for longer than this, a time-out counts as our own fault. An agent has 30 s in all. */
const MOST_STALLED_MS = 5_000
const stoodStill = (ms: number) =>
  `The marketplace itself stood still for ${Math.round(ms / 1000)} s meanwhile; this says nothing about the agent.`
const NO_BYTES = Buffer.alloc(0)
const OVER = new Error('The exchange is over.')
const CLOSED = 'The connection was closed before the answer was complete.'
/** Several connections may have been kept, and all closed by now. */
const MOST_REPEATS = 3

/** What was on the wire of one exchange. A simulator keeps thousands, and shows few. */
interface Parts {
  sentHeaders: () => HeaderLines
  status: number | null
  /** Names and values in turn. */
  rawHeaders: readonly string[]
  body: Buffer
  isCut: boolean
}

/** Makes header lines for whoever reads them, and holds as few objects as it can until then. */
class KeptWire implements Wire {
  readonly status: number | null
  readonly body: Buffer
  readonly isCut: boolean
  readonly #sentHeaders: () => HeaderLines
  readonly #rawHeaders: readonly string[]

  constructor({ sentHeaders, status, rawHeaders, body, isCut }: Parts) {
    this.status = status
    this.body = body
    this.isCut = isCut
    this.#sentHeaders = sentHeaders
    this.#rawHeaders = rawHeaders
  }

  get sentHeaders(): HeaderLines {
    return this.#sentHeaders()
  }

  get headers(): HeaderLines {
    return linesOf(this.#rawHeaders)
  }
}

/**
 * Measures how long this process stood still, because it was suspended or busy. A response that seems late because of that
 * may have come in time.
 */
const TICK_MS = 1_000
/** A shorter delay is normal. */
const COUNTED_MS = 1_000

let watchers = 0
let total = 0
let timer: NodeJS.Timeout | undefined

function tick(expected: number): void {
  const late = performance.now() - expected
  if (late > COUNTED_MS) total += late
  const next = performance.now() + TICK_MS
  timer = setTimeout(tick, TICK_MS, next).unref()
}

/** Starts a watch. The returned function ends it, and returns for how many ms the process stood still. Call it once. */
function watchStalls(): () => number {
  const before = total
  if (watchers++ === 0) tick(performance.now())
  return () => {
    if (--watchers === 0) clearTimeout(timer)
    return total - before
  }
}
