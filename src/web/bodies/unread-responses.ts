/** Bounds the bytes of responses that clients have not read yet, for one client address, for one account and in all. Source: A-180. */
import type { ServerResponse } from 'node:http'
import { type Refusal, refuse } from '../../api/failures.ts'
import type { Log } from '../../market/log.ts'
import { BufferedBytes } from './buffered-bytes.ts'

/** Smaller responses are not counted, because the number of connections bounds them. */
export const LARGE_BYTES = 16 * 1024
/** What a download has in memory: the chunks that are read ahead. */
export const DOWNLOAD_BYTES = 256 * 1024

/** Whom a response is for. */
export interface Recipient {
  readonly address: string
  /** Its account, whatever addresses it comes from; else its address. */
  readonly flow: string
}

export class UnreadResponses {
  readonly #byAddress: BufferedBytes
  readonly #byAccount: BufferedBytes
  readonly #log: Log

  constructor(bytes: number, log: Log) {
    this.#byAddress = new BufferedBytes(bytes)
    this.#byAccount = new BufferedBytes(bytes)
    this.#log = log
  }

  get total(): number {
    return this.#byAddress.total
  }

  /** Returns why no request of this client may be served now; null if it may. */
  refusalOf(recipient: Recipient): Refusal | null {
    return this.#isOver(recipient, 1) ? refuse('unread_answers') : null
  }

  /**
   * Returns why a response of `bytes` must not wait for this client; null if it may. May close the connection of a larger
   * client.
   */
  refusal(recipient: Recipient, bytes: number): Refusal | null {
    const { address } = recipient
    if (this.#isOver(recipient, bytes)) return refuse('unread_answers')
    if (this.#byAddress.makeRoom(address, bytes)) return null
    return refuse(this.#byAddress.bytesOf(address) > 0 ? 'unread_answers' : 'overloaded')
  }

  /** Counts the bytes until the response is sent or its connection is closed. */
  count(res: ServerResponse, { address, flow }: Recipient, bytes: number): void {
    if (res.closed) return
    const giveUp = () => {
      this.#log({ type: 'cut_off', reason: 'unread_bytes', address })
      res.destroy()
    }
    const counted = [this.#byAddress.count(address, bytes, giveUp)]
    if (flow !== address) counted.push(this.#byAccount.count(flow, bytes, giveUp))
    res.once('close', () => {
      for (const buffered of counted) buffered.end()
    })
  }

  #isOver({ address, flow }: Recipient, bytes: number): boolean {
    return this.#byAddress.isOver(address, bytes) || (flow !== address && this.#byAccount.isOver(flow, bytes))
  }
}
