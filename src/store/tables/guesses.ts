/** Guesses at passwords and codes, as rows. */
import { columns, type Tx } from '../db.ts'

export interface GuessesRow {
  count: number
  /** Domain time before which no further guess is taken. */
  nextAt: number
  /** Domain time at which all of it is forgotten. */
  endsAt: number
}

/**
 * The row, held until the transaction ends; made if there is none. One statement: between two, retention could remove a
 * row that was forgotten.
 */
export async function heldGuesses(tx: Tx, subject: string): Promise<GuessesRow> {
  const row = await tx.get<GuessesRow>(
    `INSERT INTO guesses (subject, count, next_at, ends_at) VALUES ($1, 0, 0, 0)
     ON CONFLICT (subject) DO UPDATE SET count = guesses.count
     RETURNING ${columns('count', 'nextAt', 'endsAt')}`,
    [subject],
  )
  return row!
}

export const setGuesses = (tx: Tx, subject: string, { count, nextAt, endsAt }: GuessesRow) =>
  tx.run('UPDATE guesses SET count = $2, next_at = $3, ends_at = $4 WHERE subject = $1', [
    subject,
    count,
    nextAt,
    endsAt,
  ])
