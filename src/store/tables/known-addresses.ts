/** Addresses that an account has signed in from, as rows: a bounded number of each account. */
import type { Reader, Tx } from '../db.ts'

export const knowsAddress = async (q: Reader, userId: string, address: string, seenAfter: number) =>
  (await q.get('SELECT 1 AS one FROM known_addresses WHERE user_id = $1 AND address = $2 AND seen_at > $3', [
    userId,
    address,
    seenAfter,
  ])) !== undefined

/** Keeps the `kept` addresses that were seen last. */
export async function noteAddress(tx: Tx, userId: string, address: string, now: number, kept: number): Promise<void> {
  await tx.run(
    `INSERT INTO known_addresses (user_id, address, seen_at) VALUES ($1, $2, $3)
     ON CONFLICT (user_id, address) DO UPDATE SET seen_at = excluded.seen_at`,
    [userId, address, now],
  )
  await tx.run(
    `DELETE FROM known_addresses WHERE user_id = $1 AND address NOT IN
     (SELECT address FROM known_addresses WHERE user_id = $1 ORDER BY seen_at DESC, address LIMIT $2)`,
    [userId, kept],
  )
}
