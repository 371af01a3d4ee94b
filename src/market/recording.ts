/** What a simulator records: its exchanges with agents, and its log. A deployment records nothing. */
import { EntryRing } from './entry-ring.ts'
import type { Exchange } from './exchange.ts'
import { ExchangeRing } from './exchange-ring.ts'

export type OnExchange = (exchange: Exchange) => void

export class Recording {
  readonly exchanges = new ExchangeRing()
  readonly entries = new EntryRing()
  readonly #onExchange: OnExchange

  constructor(onExchange: OnExchange = () => {}) {
    this.#onExchange = onExchange
  }

  /** `make`: gets the id of the exchange. */
  add(make: (id: string) => Exchange): void {
    this.#onExchange(this.exchanges.add(make))
  }
}
