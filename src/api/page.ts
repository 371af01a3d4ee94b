/** Pages of lists. */
import { limits } from './limits.ts'

export interface Paging {
  readonly page: number
  readonly limit: number
}

/**
 * Returns the rows of a page as LIMIT and OFFSET. A list shows its first 10,000 entries. A later page is empty, and no rows
 * are read for it. Source.
 */
export function rowsOf({ page, limit }: Paging): [limit: number, offset: number] {
  const offset = (page - 1) * limit
  return offset < limits.page.reach ? [limit, offset] : [0, 0]
}

/** Returns how many pages of a list of `total` entries can be read. */
export const pagesOf = (total: number, limit: number) => Math.ceil(Math.min(total, limits.page.reach) / limit)
