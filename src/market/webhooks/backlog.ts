/** Claimed deliveries that wait in memory until their host has a free slot. */
import type { ClaimedDelivery } from '../webhook-outlet.ts'
import type { InFlight } from './in-flight.ts'
import type { TargetedDelivery } from './target.ts'

export class Backlog {
  readonly #inFlight: Pick<InFlight, 'freeSlots' | 'hasSlot' | 'countWaiting'>
  #waiting: TargetedDelivery[] = []

  constructor(inFlight: Pick<InFlight, 'freeSlots' | 'hasSlot' | 'countWaiting'>) {
    this.#inFlight = inFlight
  }

  add(one: TargetedDelivery): void {
    this.#waiting.push(one)
    this.#inFlight.countWaiting(one.to, 1)
  }

  /** Removes and returns the first delivery that may be sent now. Returns undefined if none may. */
  next(): TargetedDelivery | undefined {
    if (this.#waiting.length === 0 || this.#inFlight.freeSlots() <= 0) return undefined
    const at = this.#waiting.findIndex(({ to }) => this.#inFlight.hasSlot(to))
    if (at < 0) return undefined
    const [one] = this.#waiting.splice(at, 1)
    this.#inFlight.countWaiting(one!.to, -1)
    return one
  }

  /** Removes and returns every delivery that the predicate matches. */
  drop(isDropped: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[] {
    const dropped = this.#waiting.filter(({ delivery }) => isDropped(delivery))
    if (dropped.length === 0) return []
    this.#waiting = this.#waiting.filter(one => !dropped.includes(one))
    for (const { to } of dropped) this.#inFlight.countWaiting(to, -1)
    return dropped.map(({ delivery }) => delivery)
  }
}
