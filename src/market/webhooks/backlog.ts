/** Deliveries that are held and found no place at their host: kept until one is free. */
import type { ClaimedDelivery } from '../webhook-outlet.ts'
import { type InFlight, targetOf } from './in-flight.ts'

export class Backlog {
  readonly #inFlight: Pick<InFlight, 'places' | 'hasPlace' | 'waits'>
  #waiting: ClaimedDelivery[] = []

  constructor(inFlight: Pick<InFlight, 'places' | 'hasPlace' | 'waits'>) {
    this.#inFlight = inFlight
  }

  add(delivery: ClaimedDelivery): void {
    this.#waiting.push(delivery)
    this.#inFlight.waits(targetOf(delivery), 1)
  }

  /** Removes and returns the first that has a place now; undefined if none has. */
  next(): ClaimedDelivery | undefined {
    if (this.#inFlight.places() <= 0) return undefined
    const at = this.#waiting.findIndex(delivery => this.#inFlight.hasPlace(targetOf(delivery)))
    if (at < 0) return undefined
    const [delivery] = this.#waiting.splice(at, 1)
    this.#inFlight.waits(targetOf(delivery!), -1)
    return delivery
  }

  /** Removes and returns all of which this is true. */
  drop(isDropped: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[] {
    const dropped = this.#waiting.filter(isDropped)
    if (dropped.length === 0) return dropped
    this.#waiting = this.#waiting.filter(delivery => !dropped.includes(delivery))
    for (const delivery of dropped) this.#inFlight.waits(targetOf(delivery), -1)
    return dropped
  }
}
