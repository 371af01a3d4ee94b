/** Guesses at passwords and codes, as rows. */
import { columns, type Tx } from '../db.ts'

export interface GuessesRow {
  count: number
  /** Domain time before which no further guess is taken. */
  nextAt: number
  /** Domain time at which all of it is forgotten. */
  endsAt: number
}

/** The row, held until the transaction ends; made if there is none. */
export async function heldGuesses(tx: Tx, subject: string): Promise<GuessesRow> {
  await tx.run(
    'INSERT INTO guesses (subject, count, next_at, ends_at) VALUES ($1, 0, 0, 0) ON CONFLICT (subject) DO NOTHING',
    [subject],
  )
  const row = await tx.get<GuessesRow>(
    `SELECT ${columns('count', 'nextAt', 'endsAt')} FROM guesses WHERE subject = $1 /*+ FOR UPDATE */`,
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
