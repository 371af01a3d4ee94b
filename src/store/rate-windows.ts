/** How many requests an address has sent in a window of time, as rows. Source: D40. */
import type { Reader, Tx } from './db.ts'

export interface RateWindowRow {
  count: number
  /** Domain time. */
  endsAt: number
}

/** Counts one request, in a new window until `endsAt` if there is none at `now` (both domain ms). */
export const countRequest = async (
  tx: Tx,
  { category, address, now, endsAt }: { category: string; address: string; now: number; endsAt: number },
): Promise<RateWindowRow> =>
  (await tx.get<RateWindowRow>(
    `INSERT INTO rate_windows (category, address, count, ends_at) VALUES ($1, $2, 1, $3)
     ON CONFLICT (category, address) DO UPDATE SET
       count = CASE WHEN rate_windows.ends_at <= $4 THEN 1 ELSE rate_windows.count + 1 END,
       ends_at = CASE WHEN rate_windows.ends_at <= $4 THEN excluded.ends_at ELSE rate_windows.ends_at END
     RETURNING count, ends_at AS "endsAt"`,
    [category, address, endsAt, now],
  ))!

export const hasOldWindows = async (q: Reader, now: number) =>
  (await q.get('SELECT 1 AS one FROM rate_windows WHERE ends_at <= $1 LIMIT 1', [now])) !== undefined

export const forgetWindows = (tx: Tx, now: number) => tx.run('DELETE FROM rate_windows WHERE ends_at <= $1', [now])
