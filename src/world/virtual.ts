/** A world for tests and simulation: time moves only when told to, chance repeats, nothing leaves the process. */
import { V7Generator } from 'uuidv7'
import { seededChance } from './chance.ts'
import type { Egress, Outgoing, OutgoingResult, Timer, World } from './world.ts'

export interface VirtualOptions {
  /** Both clocks begin here, in ms since 1970; 2026-01-01 unless given. */
  startMs?: number
  seed?: string | number
  /** Who answers the webhooks; without one they are recorded and answered 200. */
  egress?: Egress
}

export interface VirtualWorld extends World {
  /** Moves both clocks by `ms` and runs the timers that fall due on the way, each at its own time, in order. */
  tick(ms: number): void
  /** Real time in ms of the next timer; undefined when nothing waits. */
  nextTimer(): number | undefined
}

interface Waiting {
  due: number
  work: () => void
}

/** `advance` moves domain time alone, as in the real world; `tick` moves both. */
export function createVirtualWorld(options: VirtualOptions = {}): VirtualWorld {
  const { startMs = 1_767_225_600_000, seed = 'virtual', egress = recordingEgress() } = options
  const chance = seededChance(seed)
  const ids = new V7Generator(chance)
  const timers = new Set<Waiting>()
  let domain = startMs
  let real = startMs

  function passTo(time: number): void {
    domain += time - real
    real = time
  }

  // A Set keeps the order of arrival, which decides between timers of the same time.
  function next(): Waiting | undefined {
    let first: Waiting | undefined
    for (const timer of timers) if (!first || timer.due < first.due) first = timer
    return first
  }

  function after(ms: number, work: () => void): Timer {
    const timer = { due: real + Math.max(0, ms), work }
    timers.add(timer)
    return { cancel: () => void timers.delete(timer) }
  }

  return {
    now: () => domain,
    realNow: () => real,
    advance(to) {
      domain = Math.max(domain, Math.trunc(to))
    },
    id: prefix => `${prefix}_${ids.generateOrResetWithTs(domain).toHex()}`,
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
      for (let timer = next(); timer && timer.due <= end; timer = next()) {
        timers.delete(timer)
        passTo(Math.max(real, timer.due))
        timer.work()
      }
      passTo(Math.max(real, end))
    },
    nextTimer: () => next()?.due,
    egress,
    mail: null,
  }
}

export interface RecordingEgress extends Egress {
  /** All that was posted, oldest first. */
  readonly sent: Outgoing[]
}

export type Answerer = (request: Outgoing) => OutgoingResult | Promise<OutgoingResult>

/** Keeps what is posted and answers from memory: 200 with an empty body unless `answer` says otherwise. */
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

/** An answer as the network would have brought it. */
export function answered(status: number, body = '', headers: Record<string, string> = {}): OutgoingResult {
  return { ok: true, status, headers, body, durationMs: 0 }
}
