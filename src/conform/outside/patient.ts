/** Asks a marketplace again that does not answer at this moment: money may be held there. */
import { MarketplaceError, UnreachableError } from '../../client/client.ts'

const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000]
/** Limits of a minute are waited for; those of an hour are not. */
const LONGEST_MS = 65_000

/** How long to wait before the next try; null: there is no use in one. */
function pauseAfter(error: unknown, tried: number): number | null {
  const usual = PAUSES_MS[tried]
  if (usual === undefined) return null
  if (error instanceof UnreachableError) return usual
  if (!(error instanceof MarketplaceError)) return null
  const { status, retryAfterMs } = error
  if (status !== 429 && status < 500) return null
  const wanted = retryAfterMs ?? usual
  return wanted <= LONGEST_MS ? wanted : null
}

/** `ask` has the same effect once as several times. `pause`: may throw to end it. Rejects with the last error. */
export async function patiently<Answer>(
  ask: () => Promise<Answer>,
  pause: (ms: number) => Promise<unknown>,
): Promise<Answer> {
  for (let tried = 0; ; tried++) {
    try {
      return await ask()
    } catch (error) {
      const ms = pauseAfter(error, tried)
      if (ms === null) throw error
      await pause(ms)
    }
  }
}
