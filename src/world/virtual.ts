/** A world for tests: time moves only by calls, random numbers repeat, and nothing leaves the process. */
import { seededChance } from './chance.ts'
import { idMaker } from './ids.ts'
import type { Egress, Outgoing, OutgoingResult, Timer, World } from './world.ts'

export interface VirtualOptions {
  /** Both clocks begin here, in ms since 1970; 2026-01-01 unless given. */
  startMs?: number
  seed?: string | number
  /** Receives the webhooks. Unless given, they are recorded and get a 200. */
  egress?: Egress
}

export interface VirtualWorld extends World {
  /** Moves both clocks by `ms` and runs the timers that fall due, each at its own time, in order. */
  tick(ms: number): void
  /** The real time of the next timer in ms; undefined if there is none. */
  nextTimer(): number | undefined
}

interface Waiting extends Timer {
  readonly due: number
  readonly work: () => void
}

class Timers {
  // A Set keeps insertion order, which decides between timers of the same time.
  readonly #waiting = new Set<Waiting>()

  add(due: number, work: () => void): Timer {
    const timer = { due, work, cancel: () => void this.#waiting.delete(timer) }
    this.#waiting.add(timer)
    return timer
  }

  next(): Waiting | undefined {
    let first: Waiting | undefined
    for (const timer of this.#waiting) if (!first || timer.due < first.due) first = timer
    return first
  }
}

/** `advance` moves only domain time, as in the real world. `tick` moves both clocks. */
export function createVirtualWorld(options: VirtualOptions = {}): VirtualWorld {
  const { startMs = 1_767_225_600_000, seed = 'virtual', egress = recordingEgress() } = options
  const chance = seededChance(seed)
  const makeId = idMaker(chance)
  const timers = new Timers()
  let domain = startMs
  let real = startMs
  let stopped = false

  function passTo(time: number): void {
    if (!stopped) domain += time - real
    real = time
  }

  const after = (ms: number, work: () => void) => timers.add(real + Math.max(0, ms), work)

  return {
    now: () => domain,
    realNow: () => real,
    advance(to) {
      domain = Math.max(domain, Math.trunc(to))
    },
    stopClock() {
      stopped = true
      return () => {
        stopped = false
      }
    },
    id: (prefix, beside) => makeId(prefix, domain, beside),
    bytes: chance.bytes,
    chance: chance.fraction,
    after,
    everyHours(hours, work) {
      const stepMs = hours * 3_600_000
      const plan = (): Timer =>
        after(stepMs - (real % stepMs), () => {
          upcoming = plan()
          work()
        })
      let upcoming = plan()
      return { cancel: () => upcoming.cancel() }
    },
    tick(ms) {
      const end = real + ms
      for (let timer = timers.next(); timer && timer.due <= end; timer = timers.next()) {
        timer.cancel()
        passTo(Math.max(real, timer.due))
        timer.work()
      }
      passTo(Math.max(real, end))
    },
    nextTimer: () => timers.next()?.due,
    egress,
    mail: null,
  }
}

export interface RecordingEgress extends Egress {
  /** All that was posted, oldest first. */
  readonly sent: Outgoing[]
}

export type Answerer = (request: Outgoing) => OutgoingResult | Promise<OutgoingResult>

/** Records what is posted and responds with 200 and an empty body, unless `answer` says otherwise. */
export function recordingEgress(answer: Answerer = () => answered(200)): RecordingEgress {
  const sent: Outgoing[] = []
  return {
    sent,
    async post(request) {
      sent.push(request)
      return answer(request)
    },
    async close() {},
  }
}

/** Makes a response like one from the network. */
export function answered(status: number, body = '', headers: Record<string, string> = {}): OutgoingResult {
  return { ok: true, status, headers, body, durationMs: 0 }
}
