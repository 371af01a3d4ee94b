/**
 * Deletes rows that are kept only for a time. A transaction deletes few of them, so that no request waits long. Source:
 *
 */
import { durations } from '../../api/limits.ts'
import { type Kept, olderKinds, removeOlder } from '../../store/tables/upkeep/retention.ts'
import type { Market } from '../market.ts'

/**
 * Rows per transaction, and transactions per kind and run. That is five thousand rows a second, more than are ever written.
 */
const ROWS = 250
const GOES = 20

/** Returns for each kind of row the time before which it must have ended, or been last used, to be deleted now. */
export function keptSince({ world, config }: Pick<Market, 'world' | 'config'>): Readonly<Record<Kept, number>> {
  const now = world.now()
  const { deliveryDays, notificationDays } = config.keeping
  return {
    delivery_bodies: now - deliveryDays * durations.dayMs,
    deliveries: now - Math.max(durations.deliveryRowMs, deliveryDays * durations.dayMs),
    notifications: now - notificationDays * durations.dayMs,
    // Only where mail is no longer configured: all other mails are deleted when they are sent or given up.
    mails: now - durations.unsentMailMs,
    // Not by the idle time, as the last use of a session may not be written yet.
    sessions: now - durations.session.absoluteMs,
    password_resets: now - durations.passwordResetMs,
    idempotency_keys: now - durations.idempotency.keptMs,
    // In real time, because signatures are checked against it.
    seen_signatures: world.realNow() - durations.seenSignatureMs - 1,
    rate_windows: now,
    guesses: now,
  }
}

/** Deletes what is too old now. */
export async function removeOld(market: Market): Promise<void> {
  const { db } = market
  const since = keptSince(market)
  const failures: unknown[] = []
  for (const kind of await db.read(q => olderKinds(q, since))) {
    await removeAll(market, kind, since[kind]).catch(error => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

async function removeAll({ db }: Market, kind: Kept, before: number): Promise<void> {
  for (let go = 0; go < GOES; go++) {
    if ((await db.write(tx => removeOlder(tx, kind, before, ROWS))) < ROWS) return
  }
}
