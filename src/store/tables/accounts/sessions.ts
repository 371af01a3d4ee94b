/** Signed-in sessions. The token itself is never stored, only its hash. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, defaulted, nullable, type Row, readPage, table, text } from '../table.ts'
import { type UserRow, users } from './users.ts'

export const sessions = table('sessions', {
  id: defaulted(text()),
  tokenHash: text(),
  userId: text(),
  createdAt: bigint(),
  seenAt: bigint(),
  /** The address of the client that signed in; null if unknown. */
  address: nullable(text()),
  userAgent: nullable(text()),
})

export type SessionRow = Row<typeof sessions>

export const insertSession = (tx: Tx, row: Omit<SessionRow, 'seenAt'>) =>
  sessions.insert(tx, { ...row, seenAt: row.createdAt })

export const sessionById = (q: Reader, id: string) =>
  q.get<SessionRow>(`SELECT ${sessions.all} FROM sessions WHERE id = $1`, [id])

/** One page of an account's sessions that began and were last seen after these times, newest first. */
export const sessionsOf = (
  q: Reader,
  userId: string,
  { createdAfter, seenAfter }: Since,
  limit: number,
  offset: number,
) =>
  readPage<SessionRow>(
    q,
    `SELECT ${sessions.all} FROM sessions WHERE user_id = $1 AND created_at > $2 AND seen_at > $3
     ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5`,
    [userId, createdAfter, seenAfter, limit, offset],
  )

export const countSessions = async (q: Reader, userId: string, { createdAfter, seenAfter }: Since) =>
  (await q.get<{ count: number }>(
    'SELECT COUNT(*) AS count FROM sessions WHERE user_id = $1 AND created_at > $2 AND seen_at > $3',
    [userId, createdAfter, seenAfter],
  ))!.count

/** Sessions older than these times are over. */
export interface Since {
  readonly createdAfter: number
  readonly seenAfter: number
}

/** The account of a session that began and was last seen after these times. */
export const userBySession = (q: Reader, tokenHash: string, createdAfter: number, seenAfter: number) =>
  q.get<UserRow>(
    `SELECT ${users.all} FROM users WHERE id =
     (SELECT user_id FROM sessions WHERE token_hash = $1 AND created_at > $2 AND seen_at > $3)`,
    [tokenHash, createdAfter, seenAfter],
  )

/** Changes nothing if the session was seen after `unlessSeenAfter`. */
export const touchSession = (tx: Tx, tokenHash: string, now: number, unlessSeenAfter: number) =>
  tx.run('UPDATE sessions SET seen_at = $2 WHERE token_hash = $1 AND seen_at <= $3', [tokenHash, now, unlessSeenAfter])

export const deleteSession = (tx: Tx, tokenHash: string) =>
  tx.run('DELETE FROM sessions WHERE token_hash = $1', [tokenHash])

export const deleteOtherSessions = (tx: Tx, userId: string, keptHash: string) =>
  tx.run('DELETE FROM sessions WHERE user_id = $1 AND token_hash <> $2', [userId, keptHash])

export const deleteSessions = (tx: Tx, userId: string) => tx.run('DELETE FROM sessions WHERE user_id = $1', [userId])

export const deleteExpiredSessions = (tx: Tx, userId: string, createdBy: number, seenBy: number) =>
  tx.run('DELETE FROM sessions WHERE user_id = $1 AND (created_at <= $2 OR seen_at <= $3)', [userId, createdBy, seenBy])

/** Keeps the `kept` sessions that were seen last, and ends the others. */
export const deleteSessionsBeyond = (tx: Tx, userId: string, kept: number) =>
  tx.run(
    `DELETE FROM sessions WHERE token_hash IN
     (SELECT token_hash FROM sessions WHERE user_id = $1 ORDER BY seen_at DESC, created_at DESC, id DESC LIMIT 1000 OFFSET $2)`,
    [userId, kept],
  )
