/** An agent that answers 429 or 503 asks for time. It gets it, as from the marketplace, and is asked again, but not for ever. Source: A-37. */
import { retryScheduleMs } from '../../api/limits.ts'
import type { Answer } from '../history/history.ts'
import { machineNow, stopwatch } from '../history/machine-time.ts'
import { isBusy } from '../judging/heard-webhooks.ts'

/** Unless it says how long. It grows, for a while. */
const FIRST_MS = 1_000
const GROWTH = 1.5
const MOST_GROWN_MS = 10_000
/** What came together comes apart by so much at most, so that it is not refused together again. */
const APART_MS = 2_000
/** Who asks for more is not waited for. */
const MOST_ASKED_MS = 60_000
/** Who has taken nothing at all for so long takes nothing. */
const STAYS_BUSY_MS = 30_000
/** One webhook is sent again as often as by the marketplace, and no longer than this, while others are taken. */
const MOST_ATTEMPTS = retryScheduleMs.length + 1
const MOST_MS = 120_000

export class BusyAgent {
  readonly #chance: () => number
  /** Since its first refusal after the last that it took. */
  #since: (() => number) | null = null

  /** `chance` returns numbers in [0, 1). */
  constructor(chance: () => number) {
    this.#chance = chance
  }

  /** Whoever sends it anything tells what came. */
  heard(answer: Answer | null): void {
    if (isBusy(answer)) this.#since ??= stopwatch()
    else if (answer) this.#since = null
  }

  /** It takes nothing any more. */
  get staysBusy(): boolean {
    return this.#since !== null && this.#since() > STAYS_BUSY_MS
  }

  /**
   * Sends until the agent takes or refuses it, or asks for more time than it gets, and returns what came last. `repeatsLost`: whether it is
   * sent once more if nothing comes back, as the marketplace does.
   */
  async ask<Told extends { readonly answer: Answer | null }>(
    send: (attempt: number) => Promise<Told>,
    pause: (ms: number) => Promise<void>,
    repeatsLost = () => false,
  ): Promise<Told> {
    const elapsed = stopwatch()
    for (let attempt = 1; ; attempt++) {
      const told = await send(attempt)
      if (told.answer === null && attempt === 1 && repeatsLost()) {
        await pause(FIRST_MS)
        if (repeatsLost()) continue
      }
      if (!isBusy(told.answer) || this.staysBusy || attempt === MOST_ATTEMPTS) return told
      const ms = this.#pauseMs(told.answer, attempt)
      if (ms === null || elapsed() + ms > MOST_MS) return told
      await pause(ms)
    }
  }

  /** null: longer than anybody waits. */
  #pauseMs(answer: Answer | null, attempt: number): number | null {
    const asked = askedMs(answer)
    if (asked > MOST_ASKED_MS) return null
    const least = Math.max(asked, Math.min(MOST_GROWN_MS, FIRST_MS * GROWTH ** (attempt - 1)))
    return Math.round(least + this.#chance() * Math.min(least, APART_MS))
  }
}

/** Retry-After, in seconds or as a date. */
function askedMs(answer: Answer | null): number {
  const [, header = ''] = answer?.headers.find(([name]) => name.toLowerCase() === 'retry-after') ?? []
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - machineNow()
  return Math.max(0, ms || 0)
}
