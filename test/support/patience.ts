/** Waiting for what must happen. Nothing is said of its speed: whoever runs out of patience has waited for what never comes. */
import { setTimeout as wait } from 'node:timers/promises'

/** More than a machine takes that does ten other things, and less than a test file has (test/run.ts). */
export const PATIENCE_MS = 120_000

/** Waits until something holds. Throws if it never does; `what` may say what there is instead. */
export async function until(what: string | (() => string), holds: () => unknown, everyMs = 10): Promise<void> {
  for (const patience = AbortSignal.timeout(PATIENCE_MS); !(await holds()); await wait(everyMs)) {
    if (patience.aborted) throw new Error(`It never came: ${typeof what === 'string' ? what : what()}`)
  }
}

/** What `work` comes to. Rejects if it never ends. */
export function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  const late = wait(PATIENCE_MS, undefined, { ref: false }).then(() =>
    Promise.reject(new Error(`It never came: ${what}`)),
  )
  return Promise.race([work, late])
}
