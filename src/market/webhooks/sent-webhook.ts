/** A webhook as a simulator records it. */
import type { FaultName } from '../../api/faults.ts'
import type { HeaderLines } from '../../world/header-lines.ts'
import type { Outgoing, OutgoingFailure, OutgoingResult, Wire } from '../../world/world.ts'
import { type Exchange, secretFingerprint } from '../exchange.ts'

interface Sent {
  readonly id: string
  readonly realAt: number
  readonly at: number
  readonly post: Pick<Exchange, 'taskId' | 'agentId' | 'deliveryId' | 'attempt'> & { readonly secret: string }
  readonly request: Outgoing
  readonly result: OutgoingResult
  readonly fault: FaultName | null
}

/**
 * Makes bytes, lines and the fingerprint for whoever reads them. Most webhooks are recorded and never looked at: with
 * all of it made for each, recording took a fifth of the submits per second, without it an eighth.
 */
export class SentWebhook implements Exchange {
  readonly direction = 'webhook'
  readonly method = 'POST'
  readonly id: string
  readonly url: string
  readonly status: number | null
  readonly requestCut = false
  readonly error: string | null
  readonly realAt: number
  readonly at: number
  readonly ms: number
  readonly taskId: string | null
  readonly agentId: string | null
  readonly deliveryId: string | null
  readonly attempt: number | null
  readonly fault: FaultName | null
  readonly reason: OutgoingFailure | null
  readonly refusal = null
  readonly signature = null
  readonly bytes: number
  readonly #secret: string
  readonly #body: string
  readonly #wire: Wire

  constructor({ id, realAt, at, post, request, result, fault }: Sent) {
    const wire = result.wire ?? wireOf(request, result)
    this.id = id
    this.realAt = realAt
    this.at = at
    this.url = request.url
    this.status = wire.status
    this.error = result.ok ? null : result.message
    this.reason = result.ok ? null : result.reason
    this.fault = fault
    this.ms = result.durationMs
    this.taskId = post.taskId
    this.agentId = post.agentId
    this.deliveryId = post.deliveryId
    this.attempt = post.attempt
    this.#secret = post.secret
    this.#body = request.body
    this.#wire = wire
    this.bytes = FIXED_BYTES + request.body.length + wire.body.length
  }

  get requestHeaders(): HeaderLines {
    return this.#wire.sentHeaders
  }

  get requestBody(): Buffer {
    return Buffer.from(this.#body)
  }

  get responseHeaders(): HeaderLines {
    return this.#wire.headers
  }

  get responseBody(): Buffer {
    return this.#wire.body
  }

  get responseCut(): boolean {
    return this.#wire.isCut
  }

  get sentSecretFingerprint(): string {
    return secretFingerprint(this.#secret)
  }
}

/** About what one takes besides its bodies. Headers of a response have 16 KiB at most. */
const FIXED_BYTES = 2_000

/** What a sender that keeps no wire tells. */
const wireOf = ({ headers }: Outgoing, result: OutgoingResult): Wire => ({
  sentHeaders: Object.entries(headers),
  status: result.ok ? result.status : null,
  headers: [],
  body: Buffer.from(result.ok ? result.body : ''),
  isCut: false,
})
