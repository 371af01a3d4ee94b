/** Collects what happens in a run, in order, and wakes those who wait for something. */
import { type Happening, History, type LaneName, type Recorded } from './history.ts'
import { machineNow } from './time.ts'

/** More would be a loop of ours or of the agent's. */
const MOST_EVENTS = 100_000

export interface Clock {
  now(): number
  realNow(): number
}

export class Recorder {
  readonly #events: Recorded[] = []
  readonly #waiting = new Set<() => void>()
  readonly #listen: (event: Recorded) => void

  constructor(listen: (event: Recorded) => void = () => {}) {
    this.#listen = listen
  }

  /** Throws when it is full. */
  add(happening: Happening, lane: LaneName | null = null, clock: Clock = machineClock): void {
    if (this.#events.length >= MOST_EVENTS) throw new Error(`More than ${MOST_EVENTS} things have happened`)
    const seq = this.#events.length + 1
    const event: Recorded = { seq, lane, realAt: clock.realNow(), at: clock.now(), ...happening }
    this.#events.push(event)
    this.#listen(event)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** All until now. It grows with what comes. */
  readonly history = new History(this.#events)

  /** Resolves when something more has happened, or after `ms`. */
  next(ms: number): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(wake)
        resolve()
      }, ms)
      this.#waiting.add(wake)
    })
  }
}

const machineClock: Clock = { now: machineNow, realNow: machineNow }
