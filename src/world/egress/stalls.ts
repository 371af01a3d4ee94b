/**
 * Measures how long this process stood still, because it was suspended or busy. A response that seems late because of that
 * may have come in time.
 */

const TICK_MS = 1_000
/** A shorter delay is normal. */
const COUNTED_MS = 1_000

let watchers = 0
let total = 0
let timer: NodeJS.Timeout | undefined

function tick(expected: number): void {
  const late = performance.now() - expected
  if (late > COUNTED_MS) total += late
  const next = performance.now() + TICK_MS
  timer = setTimeout(tick, TICK_MS, next).unref()
}

/** Starts a watch. The returned function ends it, and returns for how many ms the process stood still. Call it once. */
export function watchStalls(): () => number {
  const before = total
  if (watchers++ === 0) tick(performance.now())
  return () => {
    if (--watchers === 0) clearTimeout(timer)
    return total - before
  }
}
