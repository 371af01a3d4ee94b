/** Bounds the bytes of responses that clients have not read yet, for one client address and in all. Source: A-180. */
import type { ServerResponse } from 'node:http'
import { type Refusal, refuse } from '../api/failures.ts'
import type { Log } from '../market/log.ts'
import { HeldBytes } from './buffered-bytes.ts'

/** Smaller responses are not counted, because the number of connections bounds them. */
export const LARGE_BYTES = 16 * 1024
/** What a download holds in memory: the chunks that are read ahead. */
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

  /** Returns why this address may not send requests now; null if it may. */
  refusalOf(address: string): Refusal | null {
    return this.#held.isOver(address, 1) ? later('unread_answers') : null
  }

  /**
   * Returns why a response of `bytes` must not wait for this address; null if it may. May close the connection of a larger
   * holder.
   */
  refusal(address: string, bytes: number): Refusal | null {
    if (this.#held.isOver(address, bytes)) return later('unread_answers')
    return this.#held.makeRoom(address, bytes) ? null : later('overloaded')
  }

  /** Counts the bytes until the response is sent or its connection is closed. */
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
