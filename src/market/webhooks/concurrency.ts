/**
 * How many webhooks may be in flight. A client waits for each request, so webhooks yield to a burst of requests for a
 * while. Source: A-154.
 */
import { dispatch } from '../../api/dispatch.ts'
import type { Market } from '../market.ts'

/**
 * Returns the number of slots for webhooks at this moment. Requests pile up and drain with each sync of the disk, so a
 * burst is over only when none was seen for a while. A burst that lasts loses its precedence; otherwise the outbox would
 * grow without end.
 */
export function slotLimit({ db, world }: Pick<Market, 'db' | 'world'>): () => number {
  let since = Number.NEGATIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = world.realNow()
    // The machine's clock was set back, so earlier times can't be compared with this one.
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
