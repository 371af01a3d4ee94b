/** Requests counted in the database, for instances that share their limits. Source: D40. */
import { type RateCategory, rates } from '../api/limits.ts'
import { countRequest } from '../store/rate-windows.ts'
import type { Market } from './market.ts'

/** One statement in a transaction of its own: it holds nothing that another request waits for. */
export const countInCommon = ({ db }: Pick<Market, 'db'>, category: RateCategory, address: string, now: number) =>
  db.write(tx => countRequest(tx, { category, address, now, endsAt: now + rates[category].windowMs }))
