/** The time of the machine, outside of any marketplace: an agent is watched in real time, whatever a clock was moved to. */

/** In ms since 1970. */
export const machineNow = (): number => Date.now()

/** Starts to measure. Returns what tells the ms since then. */
export function stopwatch(): () => number {
  const from = performance.now()
  return () => Math.round(performance.now() - from)
}

/**
 * Starts to measure an exchange. Returns what tells when it ends and how long it took. It began, at `realAt` − `ms`, no sooner than it had
 * arrived here and no later than it left, whatever the machine does between two lines: a verdict may hang on that.
 */
export function timedExchange(): () => { readonly realAt: number; readonly ms: number } {
  const elapsed = stopwatch()
  const from = machineNow()
  return () => {
    const ms = elapsed()
    return { realAt: from + ms, ms }
  }
}

/** Resolves after `ms`. It keeps no process alive: the marketplace does, as long as there is one. */
export const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms).unref())
