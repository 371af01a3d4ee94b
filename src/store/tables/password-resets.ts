/** Tokens that reset a password, as rows. The token itself is never stored, only its hash. */
import type { Reader, Tx } from '../db.ts'
import { bigint, defaulted, table, text } from './table.ts'
import { type UserRow, users } from './users.ts'

export const passwordResets = table('password_resets', {
  tokenHash: text(),
  userId: text(),
  createdAt: bigint(),
  /** Which letter it went out with: each attempt to send one makes a token, and letters are counted. */
  mailId: defaulted(text()),
})

export const insertReset = (tx: Tx, tokenHash: string, userId: string, mailId: string, now: number) =>
  passwordResets.insert(tx, { tokenHash, userId, mailId, createdAt: now })

/** Letters to this account whose tokens are there, but for this one. */
export const countOtherLetters = async (q: Reader, userId: string, mailId: string) =>
  (await q.get<{ count: number }>(
    'SELECT COUNT(DISTINCT mail_id) AS count FROM password_resets WHERE user_id = $1 AND mail_id <> $2',
    [userId, mailId],
  ))!.count

/** Whose token it is; undefined if it is unknown or too old. */
export const ownerOfReset = (q: Reader, tokenHash: string, createdAfter: number) =>
  q.get<UserRow>(
    `SELECT ${users.all} FROM users
     WHERE id = (SELECT user_id FROM password_resets WHERE token_hash = $1 AND created_at > $2)`,
    [tokenHash, createdAfter],
  )

/** Uses a token up; answers whose it was, undefined if it is unknown or too old. */
export const consumeReset = async (tx: Tx, tokenHash: string, createdAfter: number) =>
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
