/** Answers that wait for their readers, in bytes: those of one client address and all together are bounded. Source: A-49. */
import type { ServerResponse } from 'node:http'
import { type Refusal, refuse } from '../api/failures.ts'
import type { Log } from '../market/log.ts'
import { HeldBytes } from './held-bytes.ts'

/** What is smaller than this is not counted: the number of connections bounds it. */
export const LARGE_BYTES = 16 * 1024
/** What a download holds: a descriptor, and the pieces that are read ahead. */
export const DOWNLOAD_BYTES = 256 * 1024
const RETRY_SECONDS = 5

export class UnreadResponses {
  readonly #held: HeldBytes

  readonly #log: Log

  constructor(bytes: number, log: Log) {
    this.#held = new HeldBytes(bytes)
    this.#log = log
  }

  get total(): number {
    return this.#held.total
  }

  /** Why this address may not ask for more; null if it may. */
  refusalOf(address: string): Refusal | null {
    return this.#held.isOver(address, 1) ? later('unread_answers') : null
  }

  /** Why `bytes` more for this address must not wait; null if they may: the connection of whoever has most is cut for it. */
  refusal(address: string, bytes: number): Refusal | null {
    if (this.#held.isOver(address, bytes)) return later('unread_answers')
    return this.#held.makeRoom(address, bytes) ? null : later('overloaded')
  }

  /** Counts them until the answer is out, or its connection has ended. */
  hold(res: ServerResponse, address: string, bytes: number): void {
    if (res.closed) return
    const held = this.#held.hold(address, bytes, () => {
      this.#log({ type: 'cut_off', reason: 'unread_bytes', address })
      res.destroy()
    })
    res.once('close', () => held.end())
  }
}

function later(code: 'unread_answers' | 'overloaded'): Refusal {
  const refusal = refuse(code)
  refusal.headers = { 'retry-after': String(RETRY_SECONDS) }
  return refusal
}
