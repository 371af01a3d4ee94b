/** Lets the simulator's clock run faster than real time. Source: A-233. */
import { clockMoves } from '../../api/limits.ts'
import type { Timer } from '../../world/world.ts'
import { Activity } from '../activity.ts'
import type { Market } from '../market.ts'
import { moveClockTo } from './clock-moves.ts'

/**
 * Moves the clock twice a second of real time. While something is in flight it is not moved and runs as real time does, so
 * no time-out and no retry passes while an agent works.
 */
export class ClockScale {
  #scale = 1
  #timer: Timer | null = null
  #step: Promise<void> = Promise.resolve()

  /** How many times as fast as real time. */
  get scale(): number {
    return this.#scale
  }

  set(market: Market, scale: number): void {
    this.#scale = scale
    if (scale > 1) this.#timer ??= this.#plan(market)
  }

  /** Goes back to real time. A step may still be under way. */
  stop(): void {
    this.#scale = 1
    this.#timer?.cancel()
    this.#timer = null
  }

  /** Resolves when no step is under way. */
  ended(): Promise<void> {
    return this.#step
  }

  #plan(market: Market): Timer {
    const began = market.world.realNow()
    return market.world.after(clockMoves.scaleStepMs, () => {
      this.#step = this.#move(market, market.world.realNow() - began).finally(() => {
        this.#timer = this.#scale > 1 ? this.#plan(market) : null
      })
    })
  }

  async #move(market: Market, elapsedMs: number): Promise<void> {
    const { world, memory, log } = market
    const isQuiet = memory.of(Activity).isEmpty
    if (this.#scale === 1 || !isQuiet) return
    const by = Math.min(elapsedMs, clockMoves.scaleStepMs) * (this.#scale - 1)
    await moveClockTo(market, world.now() + by).catch(error =>
      log({ type: 'error', message: `The clock could not be moved: ${error.message}` }),
    )
  }
}
