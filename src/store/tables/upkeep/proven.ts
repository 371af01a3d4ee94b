/** What an account has proven by money and work. Each statement reads a bounded number of rows. */
import { room } from '../../../api/limits.ts'
import type { Reader } from '../../db.ts'
import { isIncome } from '../money/transfers.ts'

const received = (kind: 'deposit' | 'release') =>
  `(SELECT COALESCE(SUM(CASE WHEN status = 'completed' AND COALESCE(payer_id, '') <> $1 THEN amount ELSE 0 END), 0) FROM
     (SELECT amount, status, payer_id FROM transfers WHERE kind = '${kind}' AND payee_id = $1 AND ${isIncome}
      ORDER BY id DESC LIMIT ${room.transfers}) ${kind}s)`

const proven = `SELECT identity_verified AS "isVerified",
  CAST(${received('deposit')} + ${received('release')} AS BIGINT) AS cents FROM users WHERE id = $1`

/** The cents that came in and that others paid for work, of the latest transfers. */
export async function provenBy(q: Reader, userId: string): Promise<{ isVerified: boolean; cents: number }> {
  const row = await q.get<{ isVerified: number; cents: number }>(proven, [userId])
  return { isVerified: row?.isVerified === 1, cents: row?.cents ?? 0 }
}

const openWork = `SELECT 1 AS one WHERE
  EXISTS (SELECT 1 FROM accounts WHERE id = 'held:' || $1 AND balance > 0)
  OR EXISTS (SELECT 1 FROM (SELECT status FROM tasks WHERE builder_id = $1 ORDER BY id DESC LIMIT ${room.transfers}) latest
             WHERE status IN ('pending', 'in_progress', 'delivered'))`

/** Whether the account has money held, or one of the latest tasks of its agents is under way. */
export const hasOpenWork = async (q: Reader, userId: string) => (await q.get(openWork, [userId])) !== undefined
