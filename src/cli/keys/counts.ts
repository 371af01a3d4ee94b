/** Counts what the log tells, for the key line. */
import type { StampedEntry } from '../../market/log.ts'
import { isOfPurpose } from '../log/down-on-purpose.ts'
import { entryLine } from '../log/entry-lines.ts'

/** Of webhooks that wait, so that memory is bounded. */
const MOST = 10_000

export class Counts {
  /** Webhooks and callbacks. */
  exchanges = 0
  /** Lines that the log shows in red. */
  failures = 0
  /** Deliveries whose last attempt failed, and that are tried again. */
  readonly #waiting = new Set<string>()

  get waiting(): number {
    return this.#waiting.size
  }

  add(entry: StampedEntry): void {
    if (entry.type === 'webhook' || entry.type === 'callback') this.exchanges++
    if (entryLine(entry, new Map())?.isFailure && !isOfPurpose(entry)) this.failures++
    if (entry.type !== 'webhook') return
    if (entry.outcome !== 'retry') this.#waiting.delete(entry.deliveryId)
    else if (this.#waiting.size < MOST) this.#waiting.add(entry.deliveryId)
  }
}
