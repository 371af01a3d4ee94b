/** Counts requests in fixed windows, in memory or, for processes that share limits, in the database. Source: A-40. */
import { type RateCategory, rates } from '../api/limits.ts'
import type { Market } from '../market/market.ts'
import { countInCommon } from '../market/requests/rate-windows.ts'

interface Window {
  /** Requests in this window so far, including this one. */
  count: number
  /** When the window ends, in domain ms. */
  readonly endsAt: number
}

export interface RateCounters {
  /** Counts one request. The first request of a window begins it at `now` (domain ms). */
  count(category: RateCategory, address: string, now: number): Readonly<Window> | Promise<Readonly<Window>>
}

/** How many windows a category keeps: some MB in all. The oldest is dropped first, as it ends first. */
const WINDOWS_KEPT = 20_000

/** `kept` bounds the windows of each category. */
export function memoryCounters(kept = WINDOWS_KEPT): RateCounters & { readonly size: number } {
  const categories = new Map<RateCategory, Map<string, Window>>()

  return {
    get size() {
      return [...categories.values()].reduce((sum, { size }) => sum + size, 0)
    },
    count(category, address, now) {
      const windows = categories.get(category) ?? new Map<string, Window>()
      categories.set(category, windows)
      const running = windows.get(address)
      if (running && now < running.endsAt) {
        running.count++
        return running
      }
      const fresh = { count: 1, endsAt: now + rates[category].windowMs }
      windows.delete(address)
      makeRoom(windows, now, kept)
      windows.set(address, fresh)
      return fresh
    },
  }
}

/**
 * Counts in the database, together with other processes. Windows that are over their limit are then counted in memory only.
 */
export function sharedCounters(market: Pick<Market, 'db'>, kept = WINDOWS_KEPT): RateCounters {
  const categories = new Map<RateCategory, Map<string, Window>>()

  return {
    async count(category, address, now) {
      const overflowing = categories.get(category) ?? new Map<string, Window>()
      categories.set(category, overflowing)
      const known = overflowing.get(address)
      if (known && now < known.endsAt) {
        known.count++
        return known
      }
      const window = await countInCommon(market, category, address, now)
      if (window.count > rates[category].limit) {
        makeRoom(overflowing, now, kept)
        overflowing.set(address, window)
      }
      return window
    },
  }
}

/**
 * Drops ended windows. A Map keeps insertion order and all windows of a category have one length, so the first one ends
 * first.
 */
function makeRoom(windows: Map<string, Window>, now: number, kept: number) {
  for (const [address, { endsAt }] of windows) {
    if (now < endsAt && windows.size < kept) return
    windows.delete(address)
  }
}
