/** Bounds the bytes of responses that clients have not read yet, for one client address and in all. Source: A-180. */
import type { ServerResponse } from 'node:http'
import { type Refusal, refuse } from '../../api/failures.ts'
import type { Log } from '../../market/log.ts'
import { BufferedBytes } from './buffered-bytes.ts'

/** Smaller responses are not counted, because the number of connections bounds them. */
export const LARGE_BYTES = 16 * 1024
/** What a download has in memory: the chunks that are read ahead. */
export const DOWNLOAD_BYTES = 256 * 1024
const RETRY_SECONDS = 5

export class UnreadResponses {
  readonly #buffered: BufferedBytes

  readonly #log: Log

  constructor(bytes: number, log: Log) {
    this.#buffered = new BufferedBytes(bytes)
    this.#log = log
  }

  get total(): number {
    return this.#buffered.total
  }

  /** Returns why this address may not send requests now; null if it may. */
  refusalOf(address: string): Refusal | null {
    return this.#buffered.isOver(address, 1) ? later('unread_answers') : null
  }

  /**
   * Returns why a response of `bytes` must not wait for this address; null if it may. May close the connection of a larger
   * client.
   */
  refusal(address: string, bytes: number): Refusal | null {
    if (this.#buffered.isOver(address, bytes)) return later('unread_answers')
    return this.#buffered.makeRoom(address, bytes) ? null : later('overloaded')
  }

  /** Counts the bytes until the response is sent or its connection is closed. */
  count(res: ServerResponse, address: string, bytes: number): void {
    if (res.closed) return
    const buffered = this.#buffered.count(address, bytes, () => {
      this.#log({ type: 'cut_off', reason: 'unread_bytes', address })
      res.destroy()
    })
    res.once('close', () => buffered.end())
  }
}

function later(code: 'unread_answers' | 'overloaded'): Refusal {
  const refusal = refuse(code)
  refusal.headers = { 'retry-after': String(RETRY_SECONDS) }
  return refusal
}
