/** How long the agent is waited for: as long as its author says, and no longer than its own pace makes sense of. */
import { availableParallelism, loadavg } from 'node:os'

type Kind = 'answer' | 'work'

/** A busy machine makes quick agents slow for a moment: the longer, the more there is to do for each of its cores. */
const LEAST_MS = 5_000
const MOST_CROWDED = 6
const leastLimit = () => LEAST_MS * Math.min(MOST_CROWDED, Math.max(1, loadavg()[0]! / availableParallelism()))

const TIMES = 10
const TIMES_QUIET = 5
const MOST_MORE_MS = 10_000

export class Patience {
  readonly #limits: Readonly<Record<Kind, number>>
  readonly #slowest: Partial<Record<Kind, number>> = {}

  /** In ms. */
  constructor(limits: Readonly<Record<Kind, number>>) {
    this.#limits = limits
  }

  limit(kind: Kind): number {
    const seen = this.#slowest[kind]
    if (seen === undefined) return this.#limits[kind]
    return Math.round(Math.min(this.#limits[kind], Math.max(leastLimit(), TIMES * seen)))
  }

  note(kind: Kind, ms: number): void {
    this.#slowest[kind] = Math.max(ms, this.#slowest[kind] ?? 0)
  }

  /** How long to listen for what must not come: five times the slowest reaction, and of slow agents that and some seconds. */
  quietMs(leastMs: number): number {
    const slowest = Math.max(0, ...Object.values(this.#slowest))
    return Math.max(leastMs, Math.min(TIMES_QUIET * slowest, slowest + MOST_MORE_MS))
  }
}
