/** Addresses from which each account has signed in: a bounded number of them. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, table, text } from '../table.ts'

export const knownAddresses = table('known_addresses', { userId: text(), address: text(), seenAt: bigint() })

const seenAgain = knownAddresses.replacing(['userId', 'address'], ['seenAt'])

export const knowsAddress = async (q: Reader, userId: string, address: string, seenAfter: number) =>
  (await q.get('SELECT 1 AS one FROM known_addresses WHERE user_id = $1 AND address = $2 AND seen_at > $3', [
    userId,
    address,
    seenAfter,
  ])) !== undefined

/** Keeps the `kept` addresses that were seen last. */
export async function noteAddress(tx: Tx, userId: string, address: string, now: number, kept: number): Promise<void> {
  await knownAddresses.insert(tx, { userId, address, seenAt: now }, seenAgain)
  await tx.run(
    `DELETE FROM known_addresses WHERE user_id = $1 AND address NOT IN
     (SELECT address FROM known_addresses WHERE user_id = $1 ORDER BY seen_at DESC, address LIMIT $2)`,
    [userId, kept],
  )
}
