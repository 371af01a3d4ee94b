/** Collects what happens in a run, in order, and wakes those who wait for something. */
import { type Happening, History, type LaneName, type Recorded } from './history.ts'
import { machineNow } from './time.ts'

/** More would be a loop of ours or of the agent's. */
const MOST_EVENTS = 100_000

export type Listen = (event: Recorded, history: History) => void

export interface Clock {
  now(): number
  realNow(): number
}

/** Takes what happens. */
export type EventSink = Pick<Recorder, 'add'>

export class Recorder {
  readonly #events: Recorded[] = []
  readonly #waiting = new Set<() => void>()
  readonly #listen: Listen
  #isInterrupted = false

  constructor(listen: Listen = () => {}) {
    this.#listen = listen
  }

  /** Throws when it is full. */
  add(happening: Happening, lane: LaneName | null = null, clock: Clock = machineClock): void {
    if (this.#events.length >= MOST_EVENTS) throw new Error(`More than ${MOST_EVENTS} things have happened`)
    const seq = this.#events.length + 1
    const event: Recorded = { seq, lane, realAt: clock.realNow(), at: clock.now(), ...happening }
    this.#events.push(event)
    this.#listen(event, this.history)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** All until now. It grows with what comes. */
  readonly history = new History(this.#events)

  /** The run is to end at once. */
  interrupt(): void {
    this.#isInterrupted = true
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** Throws once the run is to end. */
  proveGoesOn(): void {
    if (this.#isInterrupted) throw new Error('the run was interrupted')
  }

  /** Resolves when something more has happened, or after `ms`. */
  next(ms: number): Promise<void> {
    this.proveGoesOn()
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
