/** What was on the wire of one exchange. A simulator keeps thousands, and shows few. */
import { type HeaderLines, linesOf } from '../header-lines.ts'
import type { Wire } from '../world.ts'

interface Parts {
  sentHeaders: () => HeaderLines
  status: number | null
  /** Names and values in turn. */
  rawHeaders: readonly string[]
  body: Buffer
  isCut: boolean
}

/** Makes header lines for whoever reads them, and holds as few objects as it can until then. */
export class KeptWire implements Wire {
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
