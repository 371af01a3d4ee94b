/** How many webhooks may be in flight: requests have somebody who waits, so webhooks give way to a crowd of them, for a while. */
import { dispatch } from '../../api/limits.ts'
import type { Market } from '../market.ts'

/**
 * Places for webhooks at this moment. A crowd comes and goes with each answer of the disk, so it is over when none was
 * seen for a while. One that stays has no precedence any more, or the outbox would grow under it without end.
 */
export function placesFor({ db, world }: Pick<Market, 'db' | 'world'>): () => number {
  let since = Number.NEGATIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = world.realNow()
    // The machine's clock was set back: what it said before is no measure.
    if (now < last) last = since = Number.NEGATIVE_INFINITY
    const isCalm = now - last > dispatch.calmMs
    if (db.waiting > dispatch.crowd) {
      if (isCalm) since = now
      last = now
    } else if (isCalm) {
      return dispatch.overall
    }
    return now - since < dispatch.patienceMs ? dispatch.besideCrowd : dispatch.overall
  }
}
