/** How long this process has stood still: suspended, or busy with one thing. What came late by that was not late itself. */

const TICK_MS = 1_000
/** Less than this is an ordinary delay. */
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

/** Returns what tells how long it has stood still since, and ends the watch. To be called once. */
export function watchStalls(): () => number {
  const before = total
  if (watchers++ === 0) tick(performance.now())
  return () => {
    if (--watchers === 0) clearTimeout(timer)
    return total - before
  }
}
