/** Waiting for what must happen. Nothing is said of its speed: whoever runs out of patience has waited for what never comes. */
import { setTimeout as wait } from 'node:timers/promises'

/** More than a machine takes that does ten other things, and less than a test file has (test/run.ts). */
export const PATIENCE_MS = 120_000

/** What is waited for long is asked for less often: most of what a test asks is a request. */
const [SOON_MS, SELDOM_MS] = [5, 50]

/** Waits until something holds. Throws if it never does; `what` may say what there is instead. */
export async function until(what: string | (() => string), holds: () => unknown, everyMs?: number): Promise<void> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  for (let ms = SOON_MS; !(await holds()); ms = Math.min(SELDOM_MS, 1.3 * ms)) {
    if (patience.aborted) throw new Error(`It never came: ${typeof what === 'string' ? what : what()}`)
    await wait(everyMs ?? ms)
  }
}

/** What `work` comes to. Rejects if it never ends. */
export function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  const late = wait(PATIENCE_MS, undefined, { ref: false }).then(() =>
    Promise.reject(new Error(`It never came: ${what}`)),
  )
  return Promise.race([work, late])
}
