/** What is kept for a time alone, and for how long. A few rows go in each transaction, so that nobody waits for them. Source: A-49. */
import { durations } from '../../api/limits.ts'
import { hasOlder, type Kept, keptKinds, removeOlder } from '../../store/tables/retention.ts'
import type { Market } from '../market.ts'

/** Rows of one transaction, and transactions of one kind in one go: five thousand rows a second are more than are written. */
const ROWS = 250
const GOES = 20

/** Until when a row of each kind has to have been left alone, ended or begun, to be removed now. */
export function keptSince({ world, config }: Pick<Market, 'world' | 'config'>): Readonly<Record<Kept, number>> {
  const now = world.now()
  const { deliveryDays, notificationDays } = config.keeping
  return {
    delivery_bodies: now - deliveryDays * durations.dayMs,
    deliveries: now - Math.max(durations.deliveryRowMs, deliveryDays * durations.dayMs),
    notifications: now - notificationDays * durations.dayMs,
    // Where there is no way for mails any more: all others go when they are sent, or given up.
    mails: now - durations.unsentMailMs,
    // Not sooner, as a use of a moment ago may not be written yet.
    sessions: now - durations.session.absoluteMs,
    password_resets: now - durations.passwordResetMs,
    idempotency_keys: now - durations.idempotency.keptMs,
    // By real time, as signatures are judged by it.
    seen_signatures: world.realNow() - durations.seenSignatureMs - 1,
    rate_windows: now,
    guesses: now,
  }
}

/** Removes what is too old by now. */
export async function removeOld(market: Market): Promise<void> {
  const { db } = market
  const since = keptSince(market)
  const old = await db.read(q => Promise.all(keptKinds.map(kind => hasOlder(q, kind, since[kind]))))
  const failures: unknown[] = []
  for (const kind of keptKinds.filter((_, at) => old[at])) {
    await removeAll(market, kind, since[kind]).catch(error => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

async function removeAll({ db }: Market, kind: Kept, before: number): Promise<void> {
  for (let go = 0; go < GOES; go++) {
    if ((await db.write(tx => removeOlder(tx, kind, before, ROWS))) < ROWS) return
  }
}
