/** Keeps the last exchanges of a simulator in memory. */
import { limits } from '../api/limits.ts'
import type { Exchange } from './exchange.ts'
import { MIB } from './mebibytes.ts'
import { Ring } from './ring.ts'

export interface ExchangeBounds {
  readonly exchanges: number
  readonly bytes: number
  /** Of one body; what is longer is cut. */
  readonly bodyBytes: number
}

const { exchanges, mebibytes, bodyMebibytes } = limits.recording
const usual: ExchangeBounds = { exchanges, bytes: mebibytes * MIB, bodyBytes: bodyMebibytes * MIB }

export class ExchangeRing {
  readonly #ring: Ring<Exchange>
  readonly #bodyBytes: number

  constructor(bounds: Partial<ExchangeBounds> = {}) {
    const { exchanges: count, bytes: size, bodyBytes } = { ...usual, ...bounds }
    this.#ring = new Ring({ count, size })
    this.#bodyBytes = bodyBytes
  }

  /** `make`: gets the id. Returns the exchange whole. What is kept of it may be cut. */
  add(make: (id: string) => Exchange): Exchange {
    const exchange = make(PREFIX + (this.#ring.last + 1))
    const kept = cutTo(this.#bodyBytes, exchange)
    this.#ring.add(kept, kept.bytes)
    return exchange
  }

  get(id: string): Exchange | undefined {
    const found = this.#ring.at(Number(id.slice(PREFIX.length)))
    return found?.id === id ? found : undefined
  }

  /** Newest first. */
  all(): Exchange[] {
    const { oldest, last } = this.#ring
    return Array.from({ length: last - oldest + 1 }, (_, i) => this.#ring.at(last - i)!)
  }
}

const PREFIX = 'exchange_'

function cutTo(most: number, exchange: Exchange): Exchange {
  if (exchange.bytes <= most) return exchange
  const [request, response] = [exchange.requestBody, exchange.responseBody]
  if (request.length <= most && response.length <= most) return exchange
  const [requestBody, responseBody] = [beginningOf(request, most), beginningOf(response, most)]
  return {
    // Its getters are none of its own fields.
    ...exchange,
    requestHeaders: exchange.requestHeaders,
    requestBody,
    responseHeaders: exchange.responseHeaders,
    responseBody,
    requestCut: exchange.requestCut || request.length > most,
    responseCut: exchange.responseCut || response.length > most,
    ...(exchange.sentSecretFingerprint && { sentSecretFingerprint: exchange.sentSecretFingerprint }),
    bytes: exchange.bytes - request.length - response.length + requestBody.length + responseBody.length,
  }
}

/** A copy, because a part of a buffer would keep all of it in memory. */
const beginningOf = (body: Buffer, most: number) => (body.length > most ? Buffer.from(body.subarray(0, most)) : body)
