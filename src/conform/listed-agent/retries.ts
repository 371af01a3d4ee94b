/** Repeats requests while a marketplace does not answer: money may be held there. */
import { setTimeout as wait } from 'node:timers/promises'
import { UnreachableError } from '../../client/transport.ts'
import { MarketplaceError } from '../../client/typed-client.ts'
import { machineNow } from '../history/machine-time.ts'

const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000]
/** Limits of a minute are waited for; those of an hour are not. */
const LONGEST_MS = 65_000
/** A shorter wait needs no word. */
const NOTICED_MS = 2_000

/** So long nothing is done. */
export interface Wait {
  readonly ms: number
  /** On the clock of this machine. */
  readonly until: number
  /** A sentence without a full stop. */
  readonly why: string
  /** The run was interrupted, and ends what is open. */
  readonly isEnding: boolean
}

export class Patient {
  readonly #signal: AbortSignal
  readonly #onWait: (wait: Wait) => void
  #toldUntil = 0

  /** `signal`: the run is to end. */
  constructor(signal: AbortSignal, onWait: (wait: Wait) => void = () => {}) {
    this.#signal = signal
    this.#onWait = onWait
  }

  /** `ask` has the same effect once as several times. Rejects with the last error. */
  async ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (let tried = 0; ; tried++) {
      try {
        return await ask()
      } catch (error) {
        const ms = pauseAfter(error, tried)
        if (ms === null) throw error
        this.tell(ms, error as Error)
        await this.#pause(ms, isLimit(error))
      }
    }
  }

  /** Tells of a wait, unless another one is as long. */
  tell(ms: number, error: Error): void {
    const until = machineNow() + ms
    if (ms < NOTICED_MS || until < this.#toldUntil + NOTICED_MS) return
    this.#toldUntil = until
    this.#onWait({ ms, until, why: whyOf(error), isEnding: this.#signal.aborted })
  }

  /** An interrupt ends it, but for one that came before: what is open then is to be ended. */
  async #pause(ms: number, isRefused: boolean): Promise<void> {
    if (this.#signal.aborted) return wait(ms)
    try {
      await wait(ms, undefined, { signal: this.#signal })
    } catch {
      // Whatever else has failed may have had its effect: that is to be found out.
      if (isRefused) throw new Error('the run was interrupted')
    }
  }
}

/** How long to wait before the next try; null: there is no use in one. */
function pauseAfter(error: unknown, tried: number): number | null {
  const usual = PAUSES_MS[tried]
  if (usual === undefined) return null
  if (error instanceof UnreachableError) return usual
  if (!(error instanceof MarketplaceError)) return null
  const { status, retryAfterMs } = error
  if (status !== 429 && status < 500) return null
  const wanted = retryAfterMs ?? usual
  return wanted <= LONGEST_MS ? wanted : null
}

const isLimit = (error: unknown): error is MarketplaceError => error instanceof MarketplaceError && error.status === 429

function whyOf(error: Error): string {
  if (isLimit(error)) return 'The marketplace takes no more requests from here for now'
  return error instanceof MarketplaceError ? `The marketplace said: ${error.message}` : error.message
}

const MINUTE = 60_000

/** Why something could not be done, and what helps. */
export function failureInWords(error: Error): string {
  const { retryAfterMs = 0 } = isLimit(error) ? error : {}
  if (retryAfterMs <= LONGEST_MS) return error.message
  const minutes = Math.ceil(retryAfterMs / MINUTE)
  return `the marketplace takes no more of these requests from here for ${minutes} min: try it again then, or leave out --spend, which tests for nothing`
}
