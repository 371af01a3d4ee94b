/** Requests counted in the database, for instances that share their limits. Source: A-40. */
import { durations, type RateCategory, rates } from '../../api/limits.ts'
import { countRequest } from '../../store/tables/rate-windows.ts'
import type { Market } from '../market.ts'

/** One statement in a transaction of its own: it holds nothing that another request waits for. */
export function countInCommon({ db }: Pick<Market, 'db'>, category: RateCategory, address: string, now: number) {
  const endsAt = now + rates[category].windowMs
  const latest = endsAt + durations.clockToleranceMs
  return db.write(tx => countRequest(tx, { category, address, now, endsAt, latest }))
}
