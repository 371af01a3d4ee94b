/** Signed-in sessions, as rows. The token itself is never stored, only its hash. */
import type { Reader, Tx } from './db.ts'
import { type UserRow, userColumns } from './users.ts'

export const insertSession = (tx: Tx, tokenHash: string, userId: string, now: number) =>
  tx.run('INSERT INTO sessions (token_hash, user_id, created_at, seen_at) VALUES ($1, $2, $3, $3)', [
    tokenHash,
    userId,
    now,
  ])

/** The account of a session that began and was last seen after these times. */
export const userBySession = (q: Reader, tokenHash: string, createdAfter: number, seenAfter: number) =>
  q.get<UserRow>(
    `SELECT ${userColumns} FROM users WHERE id =
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
