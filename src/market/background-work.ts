/** Connects the clock and the tests with the work that goes on by the clock, which starts after the market is made. */

export interface BackgroundWork {
  /** Does what is due now. */
  run(): Promise<void>
  /** Resolves when no webhook is due, nothing is in flight and no callback is being served. */
  settled(): Promise<void>
}

/** Passes calls to the work. Until it is attached, nothing is done. */
export class Background implements BackgroundWork {
  /** True while the simulator's clock is moved: then a heartbeat waits less long for a callback. Source. */
  isHurried = false
  #work: BackgroundWork | null = null

  attach(work: BackgroundWork): void {
    this.#work = work
  }

  async run(): Promise<void> {
    await this.#work?.run()
  }

  async settled(): Promise<void> {
    await this.#work?.settled()
  }
}
