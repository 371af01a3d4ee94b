/** Guesses at passwords and codes, as rows. */
import type { Tx } from '../db.ts'
import { bigint, integer, type Row, table, text } from './table.ts'

export const guesses = table('guesses', {
  /** Whose account, and from where. */
  subject: text(),
  count: integer(),
  /** Domain time before which no further guess is taken. */
  nextAt: bigint(),
  /** Domain time at which all of it is forgotten. */
  endsAt: bigint(),
})

const counted = ['count', 'nextAt', 'endsAt'] as const
export type GuessesRow = Pick<Row<typeof guesses>, (typeof counted)[number]>

/**
 * The row, held until the transaction ends; made if there is none. One statement: between two, retention could remove a
 * row that was forgotten.
 */
export async function lockedGuesses(tx: Tx, subject: string): Promise<GuessesRow> {
  const row = await tx.get<GuessesRow>(
    `INSERT INTO guesses (subject, count, next_at, ends_at) VALUES ($1, 0, 0, 0)
     ON CONFLICT (subject) DO UPDATE SET count = guesses.count
     RETURNING ${guesses.some(counted)}`,
    [subject],
  )
  return row!
}

export const setGuesses = (tx: Tx, subject: string, { count, nextAt, endsAt }: GuessesRow) =>
  guesses.update(tx, { subject }, { count, nextAt, endsAt })
