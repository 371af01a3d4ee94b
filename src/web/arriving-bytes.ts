/** Bodies that are on their way, in bytes: a client that never ends them holds no more than others can do without. Source: A-49. */
import { type Refusal, refuse } from '../api/failures.ts'
import type { Log } from '../market/log.ts'
import { HeldBytes } from './held-bytes.ts'

const MIB = 1024 * 1024
/** Of all; an address has an eighth of it, which is eight of the largest bodies. */
const MOST_BYTES = 64 * MIB
/** What is smaller than this is not counted: the number of connections bounds it. */
const LARGE_BYTES = 16 * 1024
const RETRY_SECONDS = 5

export interface Arriving {
  /** Why no more of the body is taken; null if it is. `size`: what has come by now. */
  refusal(size: number): Refusal | null
  end(): void
}

export class ArrivingBodies {
  readonly #held = new HeldBytes(MOST_BYTES)
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  get total(): number {
    return this.#held.total
  }

  /** `giveUp` is called where others have to be made room for. */
  begin(address: () => string, giveUp: (refusal: Refusal) => void): Arriving {
    const held = this.#held
    const log = this.#log
    let own: ReturnType<HeldBytes['hold']> | undefined
    let from = ''
    return {
      refusal(size) {
        if (size <= LARGE_BYTES) return null
        from ||= address()
        const more = size - (own?.bytes ?? 0)
        if (held.isOver(from, more)) return later('unsent_bodies')
        if (!held.makeRoom(from, more)) return later('overloaded')
        own ??= held.hold(from, 0, () => {
          log({ type: 'cut_off', reason: 'arriving_bytes', address: from })
          giveUp(later('overloaded'))
        })
        own.add(more)
        return null
      },
      end: () => own?.end(),
    }
  }
}

function later(code: 'unsent_bodies' | 'overloaded'): Refusal {
  const refusal = refuse(code)
  refusal.headers = { 'retry-after': String(RETRY_SECONDS) }
  return refusal
}
