/** Tokens that reset a password. The token itself is never stored, only its hash. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, defaulted, table, text } from '../table.ts'
import { type UserRow, users } from './users.ts'

export const passwordResets = table('password_resets', {
  tokenHash: text(),
  userId: text(),
  createdAt: bigint(),
  /** The mail that carried it. Each attempt to send a mail makes a new token, and mails are counted, not tokens. */
  mailId: defaulted(text()),
})

export const insertReset = (tx: Tx, tokenHash: string, userId: string, mailId: string, now: number) =>
  passwordResets.insert(tx, { tokenHash, userId, mailId, createdAt: now })

/** How many other mails to this account carried a token that is still kept. */
export const countOtherLetters = async (q: Reader, userId: string, mailId: string) =>
  (await q.get<{ count: number }>(
    'SELECT COUNT(DISTINCT mail_id) AS count FROM password_resets WHERE user_id = $1 AND mail_id <> $2',
    [userId, mailId],
  ))!.count

/** Returns the account of a token; undefined if the token is unknown or too old. */
export const ownerOfReset = (q: Reader, tokenHash: string, createdAfter: number) =>
  q.get<UserRow>(
    `SELECT ${users.all} FROM users
     WHERE id = (SELECT user_id FROM password_resets WHERE token_hash = $1 AND created_at > $2)`,
    [tokenHash, createdAfter],
  )

/** Uses a token up. Returns its account; undefined if the token is unknown or too old. */
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
