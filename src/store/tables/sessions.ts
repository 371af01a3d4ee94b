/** Signed-in sessions, as rows. The token itself is never stored, only its hash. */
import { columns, type Reader, type Tx } from '../db.ts'
import { type UserRow, userColumns } from './users.ts'

export interface SessionRow {
  id: string
  tokenHash: string
  userId: string
  createdAt: number
  seenAt: number
  /** Of the client that signed in; null where nobody knew it. */
  address: string | null
  userAgent: string | null
}

const sessionColumns = columns('id', 'tokenHash', 'userId', 'createdAt', 'seenAt', 'address', 'userAgent')

export const insertSession = (tx: Tx, row: Omit<SessionRow, 'seenAt'>) =>
  tx.run(
    `INSERT INTO sessions (id, token_hash, user_id, created_at, seen_at, address, user_agent)
     VALUES ($1, $2, $3, $4, $4, $5, $6)`,
    [row.id, row.tokenHash, row.userId, row.createdAt, row.address, row.userAgent],
  )

export const sessionById = (q: Reader, id: string) =>
  q.get<SessionRow>(`SELECT ${sessionColumns} FROM sessions WHERE id = $1`, [id])

/** One page of an account's sessions that began and were last seen after these times, newest first. */
export const sessionsOf = (
  q: Reader,
  userId: string,
  { createdAfter, seenAfter }: Since,
  limit: number,
  offset: number,
) =>
  q.all<SessionRow>(
    `SELECT ${sessionColumns} FROM sessions WHERE user_id = $1 AND created_at > $2 AND seen_at > $3
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

/** Ends those that were seen longest ago, down to `kept`. */
export const deleteSessionsBeyond = (tx: Tx, userId: string, kept: number) =>
  tx.run(
    `DELETE FROM sessions WHERE token_hash IN
     (SELECT token_hash FROM sessions WHERE user_id = $1 ORDER BY seen_at DESC, created_at DESC, id DESC LIMIT 1000 OFFSET $2)`,
    [userId, kept],
  )
