/** Debug lines of the topic `webhooks`: each attempt, where it went, on which connection, and how long it took. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Debug } from '../../shared/debug.ts'
import type { Egress, Outgoing, OutgoingResult } from '../world.ts'
import type { Lookup } from './names.ts'

/** What is known of an attempt under way, besides its request. */
interface Trace {
  host: string
  /** Of the connection that it was written to. */
  address?: string | undefined
  connection: 'none' | 'new' | 'kept'
  dns?: { addresses: readonly string[]; ms: number }
}

/** The part of undici's message that is used. */
interface SendHeaders {
  headers: string
  socket: Socket
}

const SENT = 'undici:client:sendHeaders'

/** Watches one way out. One that nobody watches has none of this, so that watching costs it nothing. */
export class EgressWatch {
  readonly #debug: Debug
  /** By delivery and attempt, which are headers of the request. */
  readonly #underWay = new Map<string, Trace>()
  readonly #used = new WeakSet<Socket>()

  constructor(debug: Debug) {
    this.#debug = debug
    subscribe(SENT, this.#onSent)
  }

  watched(egress: Egress): Egress {
    return {
      ...egress,
      post: request => this.#post(request, egress),
      close: async () => {
        unsubscribe(SENT, this.#onSent)
        await egress.close()
      },
    }
  }

  lookup(find: Lookup): Lookup {
    return async (host, account) => {
      const started = performance.now()
      const found = await find(host, account)
      const dns = { addresses: found.map(({ address }) => address), ms: rounded(performance.now() - started) }
      for (const trace of this.#underWay.values()) if (trace.host === host) trace.dns = dns
      return found
    }
  }

  async #post(request: Outgoing, egress: Egress): Promise<OutgoingResult> {
    const url = URL.canParse(request.url) ? new URL(request.url) : null
    const trace: Trace = { host: url?.hostname ?? '', connection: 'none' }
    const mark = markOf(request.headers)
    this.#underWay.set(mark, trace)
    const started = performance.now()
    try {
      const result = await egress.post(request)
      const outcome = result.ok ? { status: result.status } : { reason: result.reason, message: result.message }
      const { connection, address, dns } = trace
      const ms = rounded(performance.now() - started)
      this.#debug({ ...idsOf(request.headers), to: shown(url), connection, address, dns, ...outcome, ms })
      return result
    } finally {
      this.#underWay.delete(mark)
    }
  }

  // Every request of undici in this process comes by here; those of others have no delivery of ours.
  readonly #onSent = (message: unknown): void => {
    const { headers, socket } = message as SendHeaders
    const trace = this.#underWay.get(markOf(headersIn(headers)))
    if (!trace) return
    trace.connection = this.#used.has(socket) ? 'kept' : 'new'
    trace.address = `${socket.remoteAddress}:${socket.remotePort}`
    this.#used.add(socket)
  }
}

type HeaderBag = Readonly<Record<string, string>>

const DELIVERY = 'X-Service-Delivery-Id'
const ATTEMPT = 'X-Service-Attempt'

const markOf = (headers: HeaderBag) => `${headers[DELIVERY]} ${headers[ATTEMPT]}`

const idsOf = (headers: HeaderBag) => ({ deliveryId: headers[DELIVERY], attempt: Number(headers[ATTEMPT] ?? 1) })

/** Of a request's head, the two that tell attempts apart; the signature stays unread. */
function headersIn(head: string): HeaderBag {
  const found: Record<string, string> = {}
  for (const name of [DELIVERY, ATTEMPT]) {
    const value = new RegExp(`^${name}: (\\S+)\\r$`, 'im').exec(head)?.[1]
    if (value !== undefined) found[name] = value
  }
  return found
}

/** Without path and query, in which webhook addresses keep secrets. */
const shown = (url: URL | null) => url?.origin ?? 'no address'

const rounded = (ms: number) => Math.round(ms * 100) / 100
