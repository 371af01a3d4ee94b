/** Collects what happens in a run, in order, and wakes those who wait for something. */
import { maskedAll } from '../../shared/secrets.ts'
import { type Content, type Happening, History, type LaneName, type Recorded } from './history.ts'
import { machineNow, stopwatch } from './machine-time.ts'

/** More would be a loop of ours or of the agent's. */
const MOST_EVENTS = 100_000
/** Of bodies. A run of all checks keeps some 3 MB. */
const MOST_BYTES = 128 * 1024 * 1024
/** So many times as long a wait takes at most on a machine that does other things. */
const MOST_LONGER = 6
/** What comes over and over, if an agent loops. How scenarios and the run end is kept in any case. */
const traffic: readonly Happening['kind'][] = ['webhook', 'callback', 'request', 'step', 'money', 'stall']

/** The last words of a process are still being read then; they are masked one by one. */
const isForeign = ({ kind }: Happening) => !['process', 'step', 'money', 'stall'].includes(kind)

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
  readonly #secrets: readonly string[]
  #interruption: string | null = null
  #hasEnded = false
  #bytes = 0
  #stalledMs = 0

  /** `secrets`: what nobody would take for one by its form. */
  constructor(listen: Listen = () => {}, secrets: readonly string[] = []) {
    this.#listen = listen
    this.#secrets = secrets
  }

  /** It may be called during a commit, so it never throws: what does not fit is dropped, and the run ends. Returns the number of the event. */
  add(happening: Happening, lane: LaneName | null = null, clock: Clock = machineClock): number {
    const seq = this.#events.length + 1
    if (this.#hasEnded || (this.#isFull && traffic.includes(happening.kind))) return seq
    this.#hasEnded = happening.kind === 'end'
    this.#bytes += bytesIn(happening)
    const shown = isForeign(happening) ? maskedAll(happening, this.#secrets) : happening
    const event: Recorded = { seq, lane, realAt: clock.realNow(), at: clock.now(), ...shown }
    this.#events.push(event)
    if (event.kind === 'stall') this.#stalledMs += Math.min(event.ms, event.run + event.agent)
    this.#listen(event, this.history)
    this.wake()
    return seq
  }

  /** All until now. It grows with what comes. */
  readonly history = new History(this.#events)

  /** Starts to measure. Returns what tells the ms since then in which the machine held up nobody, and some of the others. */
  calmStopwatch(): () => number {
    const [elapsed, before] = [stopwatch(), this.#stalledMs]
    return () => Math.max(elapsed() - (this.#stalledMs - before), Math.round(elapsed() / MOST_LONGER))
  }

  /** The run is to end at once. */
  interrupt(why: string): void {
    this.#interruption = why
    this.wake()
  }

  /** Something has happened that nobody records. */
  wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  get #isFull(): boolean {
    return this.#events.length >= MOST_EVENTS || this.#bytes >= MOST_BYTES
  }

  /** Throws once the run is to end. */
  proveGoesOn(): void {
    if (this.#isFull) throw new Error('more has happened than a run can keep: the agent may be in a loop')
    if (this.#interruption !== null) throw new Error(this.#interruption)
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

function bytesIn(happening: Happening): number {
  if (happening.kind !== 'webhook' && happening.kind !== 'callback') return 0
  return keptBytes(happening.body) + (happening.answer ? keptBytes(happening.answer.body) : 0)
}

const keptBytes = ({ text = '', base64 = '' }: Content) => text.length + base64.length
