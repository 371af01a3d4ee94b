/** How many requests an address has sent in a window of time. Source: A-40. */
import type { Tx } from '../../db.ts'
import { bigint, integer, type Row, table, text } from '../table.ts'

const IS_OVER = '(rate_windows.ends_at <= $4 OR rate_windows.ends_at > $5)'

export const rateWindows = table('rate_windows', {
  category: text(),
  address: text(),
  count: integer(),
  /** Domain time. */
  endsAt: bigint(),
})

const window = ['count', 'endsAt'] as const
export type RateWindowRow = Pick<Row<typeof rateWindows>, (typeof window)[number]>

const counted = rateWindows.insertValues(
  [{ category: '$1', address: '$2', count: '1', endsAt: '$3' }],
  `ON CONFLICT (category, address) DO UPDATE SET
     count = CASE WHEN ${IS_OVER} THEN 1 ELSE rate_windows.count + 1 END,
     ends_at = CASE WHEN ${IS_OVER} THEN excluded.ends_at ELSE rate_windows.ends_at END
   RETURNING ${rateWindows.some(window)}`,
)

/**
 * Counts one request. If no window runs at `now` (domain ms), begins one that ends at `endsAt`. A window that ends after `latest`
 * was begun by a clock that was ahead, so it is over.
 */
export const countRequest = async (
  tx: Tx,
  {
    category,
    address,
    now,
    endsAt,
    latest,
  }: { category: string; address: string } & Record<'now' | 'endsAt' | 'latest', number>,
): Promise<RateWindowRow> => (await tx.get<RateWindowRow>(counted, [category, address, endsAt, now, latest]))!
