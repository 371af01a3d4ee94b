/** Pages of lists. */
import { limits } from './limits.ts'

export interface Paging {
  readonly page: number
  readonly limit: number
}

/**
 * The rows that a page shows, as LIMIT and OFFSET. A list shows its first 10,000 entries: a page behind them is as empty as
 * one past the end, and nothing is read for it. Source.
 */
export function rowsOf({ page, limit }: Paging): [limit: number, offset: number] {
  const offset = (page - 1) * limit
  return offset < limits.page.reach ? [limit, offset] : [0, 0]
}

/** How many pages of a list of `total` entries are shown. */
export const pagesOf = (total: number, limit: number) => Math.ceil(Math.min(total, limits.page.reach) / limit)
