/** Logs what an agent has answered, by whichever way it came. */
import type { CallbackEntry } from '../log.ts'
import type { Market } from '../market.ts'

/** `since`: when the marketplace began with it, in real ms. */
export function logCallback(
  { log, world }: Pick<Market, 'log' | 'world'>,
  { since, ...answer }: Omit<CallbackEntry, 'type' | 'ms'> & { since: number },
): void {
  // Never below 0, even if the machine's clock is set back.
  log({ type: 'callback', ...answer, ms: Math.max(0, world.realNow() - since) })
}
