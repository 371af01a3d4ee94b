/** Second factors and recovery codes, as rows. Of a recovery code only its hash is stored. */
import { columns, type Reader, type Tx } from '../db.ts'

export interface SecondFactorRow {
  userId: string
  /** Sealed. */
  secret: string
  /** The step of 30 seconds, in real time, whose code was used last. */
  lastStep: number
  /** null until the first code of it is confirmed: until then it is asked for nowhere. */
  enabledAt: number | null
}

export const secondFactorOf = (q: Reader, userId: string) =>
  q.get<SecondFactorRow>(
    `SELECT ${columns('userId', 'secret', 'lastStep', 'enabledAt')} FROM second_factors WHERE user_id = $1`,
    [userId],
  )

/** Replaces one that was never enabled. Returns 0 if one is enabled. */
export const beginSecondFactor = (tx: Tx, userId: string, secret: string, now: number) =>
  tx.run(
    `INSERT INTO second_factors (user_id, secret, last_step, created_at) VALUES ($1, $2, 0, $3)
     ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = 0, created_at = excluded.created_at
     WHERE second_factors.enabled_at IS NULL`,
    [userId, secret, now],
  )

/** Returns 0 if it is enabled already, or has another secret by now. */
export const enableSecondFactor = (tx: Tx, userId: string, secret: string, step: number, now: number) =>
  tx.run(
    `UPDATE second_factors SET enabled_at = $4, last_step = $3 WHERE user_id = $1 AND secret = $2 AND enabled_at IS NULL`,
    [userId, secret, step, now],
  )

/** Uses up the code of a step, with all before it. Returns 0 if it was used up before. */
export const useStep = (tx: Tx, userId: string, step: number) =>
  tx.run('UPDATE second_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2', [userId, step])

export async function deleteSecondFactor(tx: Tx, userId: string): Promise<void> {
  await tx.run('DELETE FROM recovery_codes WHERE user_id = $1', [userId])
  await tx.run('DELETE FROM second_factors WHERE user_id = $1', [userId])
}

export const insertRecoveryCode = (tx: Tx, userId: string, codeHash: string) =>
  tx.run('INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)', [userId, codeHash])

/** Uses a code up. Returns 0 if it is unknown or used. */
export const takeRecoveryCode = (tx: Tx, userId: string, codeHash: string) =>
  tx.run('DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2', [userId, codeHash])

export const countRecoveryCodes = async (q: Reader, userId: string) =>
  (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM recovery_codes WHERE user_id = $1', [userId]))!.count
