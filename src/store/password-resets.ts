/** Tokens that reset a password, as rows. The token itself is never stored, only its hash. */
import type { Reader, Tx } from './db.ts'

export const insertReset = (tx: Tx, tokenHash: string, userId: string, now: number) =>
  tx.run('INSERT INTO password_resets (token_hash, user_id, created_at) VALUES ($1, $2, $3)', [tokenHash, userId, now])

export const hasReset = async (q: Reader, tokenHash: string, createdAfter: number) =>
  (await q.get('SELECT 1 AS one FROM password_resets WHERE token_hash = $1 AND created_at > $2', [
    tokenHash,
    createdAfter,
  ])) !== undefined

/** Uses a token up; answers whose it was, undefined if it is unknown or too old. */
export const takeReset = async (tx: Tx, tokenHash: string, createdAfter: number) =>
  (
    await tx.get<{ userId: string }>(
      'DELETE FROM password_resets WHERE token_hash = $1 AND created_at > $2 RETURNING user_id AS "userId"',
      [tokenHash, createdAfter],
    )
  )?.userId

export const deleteResets = (tx: Tx, userId: string) =>
  tx.run('DELETE FROM password_resets WHERE user_id = $1', [userId])

export const deleteOldResets = (tx: Tx, userId: string, createdBy: number) =>
  tx.run('DELETE FROM password_resets WHERE user_id = $1 AND created_at <= $2', [userId, createdBy])
