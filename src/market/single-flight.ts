/** Work that must not overlap itself. */

export interface Singly {
  /** Resolves when all that was wished for is done. A wish while it runs is one more run after it. */
  run(): Promise<void>
  /** Takes no more wishes; waits for what runs. */
  stop(): Promise<void>
}

export function singly(work: () => Promise<void>): Singly {
  let running: Promise<void> | null = null
  let again = false
  let stopped = false
  // `running` is cleared in the same breath as the last look at `again`, so that no wish falls between the two.
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
  return {
    run() {
      if (stopped) return running ?? Promise.resolve()
      if (running) again = true
      running ??= loop()
      return running
    },
    async stop() {
      stopped = true
      await running?.catch(() => {})
    },
  }
}
