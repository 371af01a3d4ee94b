/** Counts requests in the database, for instances that share their rate limits. Source: A-40. */
import { durations, type RateCategory, rates } from '../../api/limits.ts'
import { countRequest } from '../../store/tables/requests/rate-windows.ts'
import type { Market } from '../market.ts'

/** One statement in a transaction of its own, so that no other request waits for its lock. */
export function countInCommon({ db }: Pick<Market, 'db'>, category: RateCategory, address: string, now: number) {
  const endsAt = now + rates[category].windowMs
  const latest = endsAt + durations.clockToleranceMs
  return db.write(tx => countRequest(tx, { category, address, now, endsAt, latest }), address)
}
