/** Guesses at passwords and codes. */

import type { Reader, Tx } from '../../db.ts'
import { bigint, integer, type Row, table, text } from '../table.ts'
export const guesses = table('guesses', {
  /** The account that is guessed at, and the address that guesses. */
  subject: text(),
  count: integer(),
  /** Domain time before which no further guess is allowed. */
  nextAt: bigint(),
  /** Domain time at which the row is forgotten. */
  endsAt: bigint(),
})

const counted = ['count', 'nextAt', 'endsAt'] as const
export type GuessesRow = Pick<Row<typeof guesses>, (typeof counted)[number]>

const locked = guesses.insertValues(
  [{ subject: '$1', count: '0', nextAt: '0', endsAt: '0' }],
  `ON CONFLICT (subject) DO UPDATE SET count = guesses.count RETURNING ${guesses.some(counted)}`,
)

/**
 * Returns the row and locks it until the transaction ends. Inserts it if there is none. It is one statement, because between
 * two retention could remove a row that is forgotten.
 */
export async function lockedGuesses(tx: Tx, subject: string): Promise<GuessesRow> {
  const row = await tx.get<GuessesRow>(locked, [subject])
  return row!
}

export const setGuesses = (tx: Tx, subject: string, { count, nextAt, endsAt }: GuessesRow) =>
  guesses.update(tx, { subject }, { count, nextAt, endsAt })

/** Addresses from which each account has signed in: a bounded number of them. */
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
