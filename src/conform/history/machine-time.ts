/** The time of the machine, outside of any marketplace: an agent is watched in real time, whatever a clock was moved to. */

/** In ms since 1970. */
export const machineNow = (): number => Date.now()

/** Starts to measure. Returns what tells the ms since then. */
export function stopwatch(): () => number {
  const from = performance.now()
  return () => Math.round(performance.now() - from)
}

/** Resolves after `ms`. It keeps no process alive: the marketplace does, as long as there is one. */
export const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms).unref())
