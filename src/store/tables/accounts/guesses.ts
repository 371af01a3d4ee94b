/** Guesses at passwords and codes. */
import type { Tx } from '../../db.ts'
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
