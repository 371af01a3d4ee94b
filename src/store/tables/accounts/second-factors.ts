/** Second factors and recovery codes. Only the hash of a recovery code is stored. */
import type { Reader, Tx } from '../../db.ts'
import { bigint, nullable, type Row, table, text } from '../table.ts'

export const secondFactors = table('second_factors', {
  userId: text(),
  /** Sealed. */
  secret: text(),
  /** The step of 30 seconds, in real time, whose code was used last. */
  lastStep: bigint(),
  createdAt: bigint(),
  /** Null until its owner has confirmed a first code. Until then nobody is asked for codes. */
  enabledAt: nullable(bigint()),
})

export const recoveryCodes = table('recovery_codes', { userId: text(), codeHash: text() })

export type SecondFactorRow = Row<typeof secondFactors>

export const secondFactorOf = (q: Reader, userId: string) =>
  q.get<SecondFactorRow>(`SELECT ${secondFactors.all} FROM second_factors WHERE user_id = $1`, [userId])

const begunAgain = `${secondFactors.replacing(['userId'], ['secret', 'lastStep', 'createdAt'])}
  WHERE second_factors.enabled_at IS NULL`

/** Inserts a second factor, or replaces one that was never enabled. Returns 0 if one is enabled. */
export const beginSecondFactor = (tx: Tx, userId: string, secret: string, now: number) =>
  secondFactors.insert(tx, { userId, secret, lastStep: 0, createdAt: now }, begunAgain)

/** Enables it. Returns 0 if it is enabled already, or has another secret by now. */
export const enableSecondFactor = (tx: Tx, userId: string, secret: string, step: number, now: number) =>
  secondFactors.update(tx, { userId, secret, enabledAt: null }, { enabledAt: now, lastStep: step })

/** Uses up the code of a step and of all earlier steps. Returns 0 if it was used up before. */
export const useStep = (tx: Tx, userId: string, step: number) =>
  tx.run('UPDATE second_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2', [userId, step])

/** Returns whether there was one, if only begun. */
export async function deleteSecondFactor(tx: Tx, userId: string): Promise<boolean> {
  await tx.run('DELETE FROM recovery_codes WHERE user_id = $1', [userId])
  return (await tx.run('DELETE FROM second_factors WHERE user_id = $1', [userId])) > 0
}

export const insertRecoveryCode = (tx: Tx, userId: string, codeHash: string) =>
  recoveryCodes.insert(tx, { userId, codeHash })

/** Uses a recovery code up. Returns 0 if it is unknown or used. */
export const consumeRecoveryCode = (tx: Tx, userId: string, codeHash: string) =>
  tx.run('DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2', [userId, codeHash])

export const hasRecoveryCode = async (q: Reader, userId: string, codeHash: string) =>
  (await q.get('SELECT 1 AS one FROM recovery_codes WHERE user_id = $1 AND code_hash = $2', [userId, codeHash])) !==
  undefined

export const countRecoveryCodes = async (q: Reader, userId: string) =>
  (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM recovery_codes WHERE user_id = $1', [userId]))!.count
