/**
 * Remembers whether the server can be reached. While it can't, only one caller tries to connect, with growing pauses. If every
 * waiting request tried, they could keep a server from coming back.
 */
import { AwayError } from '../db.ts'
import { endsConnection } from './errors.ts'

const FIRST_MS = 50
const LONGEST_MS = 1_000

export class Reach {
  readonly #dial: () => Promise<unknown>
  readonly #warn: (message: string) => void
  #why: Error | null = null
  #waitMs = FIRST_MS
  #timer: NodeJS.Timeout | undefined

  /** `dial` resolves if the server responds. */
  constructor(dial: () => Promise<unknown>, warn: (message: string) => void) {
    this.#dial = dial
    this.#warn = warn
  }

  /** Throws while the server is known to be unreachable. */
  prove(): void {
    if (!this.#why) return
    throw new AwayError(`Postgres can't be reached: ${this.#why.message}`, { cause: this.#why, isTold: true })
  }

  /** Records the error of a failed connection. A server that refuses for another reason is reachable. */
  lost(error: Error): void {
    if (this.#why || !endsConnection(error)) return
    this.#why = error
    this.#warn(
      `Postgres can't be reached: ${error.message}. What needs it is answered 503 until it is back, and it is tried again each second`,
    )
    this.#waitMs = FIRST_MS
    this.#plan()
  }

  /** Records that the server has responded. */
  back(): void {
    if (!this.#why) return
    this.end()
    this.#warn('Postgres is back')
  }

  /** Tries no more. */
  end(): void {
    clearTimeout(this.#timer)
    this.#why = null
  }

  #plan(): void {
    this.#timer = setTimeout(() => void this.#tryAgain(), this.#waitMs).unref()
  }

  async #tryAgain(): Promise<void> {
    try {
      await this.#dial()
      this.back()
    } catch {
      if (!this.#why) return // somebody else has reached it, or it is closed
      this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_MS)
      this.#plan()
    }
  }
}
