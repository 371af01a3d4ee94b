/** Runs work that must not overlap itself. */

export interface SingleFlight {
  /** Runs the work and resolves when it is done. Calls while it runs cause one more run after it. */
  run(): Promise<void>
  /** Starts no more runs, and waits for the one under way. */
  stop(): Promise<void>
  /** Resolves when no run is under way. Never rejects. */
  settled(): Promise<void>
}

export function singleFlight(work: () => Promise<void>): SingleFlight {
  let running: Promise<void> | null = null
  let again = false
  let stopped = false
  // No `await` separates the last check of `again` from the reset of `running`, so no call can be lost between them.
  const loop = async () => {
    try {
      do {
        again = false
        await work()
      } while (again && !stopped)
    } finally {
      running = null
    }
  }
  const settled = async () => {
    while (running) await running.catch(() => {})
  }
  return {
    settled,
    run() {
      if (stopped) return running ?? Promise.resolve()
      if (running) again = true
      running ??= loop()
      return running
    },
    async stop() {
      stopped = true
      await settled()
    },
  }
}
