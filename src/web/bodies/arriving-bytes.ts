/**
 * Bounds the bytes of request bodies that have not ended, so that clients which never end theirs can't fill the memory.
 * Source: A-210.
 */
import { type Refusal, refuse } from '../../api/failures.ts'
import type { Log } from '../../market/log.ts'
import { BufferedBytes } from './buffered-bytes.ts'

const MIB = 1024 * 1024
/** For all clients together. One address may have an eighth, which is eight bodies of the largest size. */
const MOST_BYTES = 64 * MIB
/** Smaller bodies are not counted, because the number of connections bounds them. */
const LARGE_BYTES = 16 * 1024

export interface Arriving {
  /** Returns why no more of the body is read; null if it is. `size`: the bytes that have come so far. */
  refusal(size: number): Refusal | null
  end(): void
}

export class ArrivingBodies {
  readonly #buffered = new BufferedBytes(MOST_BYTES)
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  get total(): number {
    return this.#buffered.total
  }

  /** Begins to count a body. `giveUp` is called if the body has to go to make room for others. */
  begin(address: () => string, giveUp: (refusal: Refusal) => void): Arriving {
    const buffered = this.#buffered
    const log = this.#log
    let own: ReturnType<BufferedBytes['count']> | undefined
    let from = ''
    return {
      refusal(size) {
        if (size <= LARGE_BYTES) return null
        from ||= address()
        const more = size - (own?.bytes ?? 0)
        if (buffered.isOver(from, more)) return refuse('unsent_bodies')
        if (!buffered.makeRoom(from, more)) return refuse('overloaded')
        own ??= buffered.count(from, 0, () => {
          log({ type: 'cut_off', reason: 'arriving_bytes', address: from })
          giveUp(refuse('overloaded'))
        })
        own.add(more)
        return null
      },
      end: () => own?.end(),
    }
  }
}
