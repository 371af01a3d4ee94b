/** Requests by their Idempotency-Key, and the answers that are kept for a repeat, as rows. Source: A-39. */
import type { Reader, Tx } from '../db.ts'
import { packed, unpacked } from '../packed-text.ts'
import { bigint, integer, nullable, type Row, table, text } from './table.ts'

export const idempotencyKeys = table('idempotency_keys', {
  userId: text(),
  method: text(),
  path: text(),
  key: text(),
  fingerprint: text(),
  /** null while it runs. */
  status: nullable(integer()),
  /** null while it runs, and where the answer held a secret. */
  answer: nullable(text()),
  /** Real time. */
  runningUntil: bigint(),
  createdAt: bigint(),
  /** How many bytes its account has had kept by then, ever; null while it runs. */
  keptTo: nullable(bigint()),
})

/** How many bytes of answers each account has had kept, ever: the oldest answers are those that are furthest behind. */
export const idempotencyUsage = table('idempotency_usage', { userId: text(), bytes: bigint() })

type IdempotencyKeyRow = Row<typeof idempotencyKeys>

/** One request of one account. */
export type RequestKey = Pick<IdempotencyKeyRow, 'userId' | 'method' | 'path' | 'key'>

const kept = ['fingerprint', 'status', 'answer'] as const
export type KeyedRow = Pick<IdempotencyKeyRow, (typeof kept)[number]>

const IS = 'user_id = $1 AND method = $2 AND path = $3 AND key = $4'
const valuesOf = ({ userId, method, path, key }: RequestKey) => [userId, method, path, key]

/**
 * Returns 0 if the key is taken: by a request that was answered after `keptSince` (domain ms), or that may still run at
 * `realNow`.
 */
export const claimRequest = (
  tx: Tx,
  request: RequestKey,
  claim: { fingerprint: string; now: number; keptSince: number; realNow: number; runningUntil: number },
) =>
  tx.run(
    `INSERT INTO idempotency_keys (user_id, method, path, key, fingerprint, running_until, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (user_id, method, path, key) DO UPDATE
     SET fingerprint = excluded.fingerprint, running_until = excluded.running_until, created_at = excluded.created_at,
       status = NULL, answer = NULL, kept_to = NULL
     WHERE (idempotency_keys.status IS NOT NULL AND idempotency_keys.created_at <= $8)
       OR (idempotency_keys.status IS NULL AND idempotency_keys.running_until <= $9)`,
    [...valuesOf(request), claim.fingerprint, claim.runningUntil, claim.now, claim.keptSince, claim.realNow],
  )

export async function requestByKey(q: Reader, request: RequestKey): Promise<KeyedRow | undefined> {
  const sql = `SELECT ${idempotencyKeys.some(kept)} FROM idempotency_keys WHERE ${IS}`
  const row = await q.get<KeyedRow>(sql, valuesOf(request))
  return row && { ...row, answer: row.answer === null ? null : unpacked(row.answer) }
}

/** Keeps the answer of a request that runs; `keptTo`: what its account has had kept by then. */
export const answerRequest = (
  tx: Tx,
  { userId, method, path, key }: RequestKey,
  { status, answer, keptTo }: { status: number; answer: string | null; keptTo: number },
) =>
  idempotencyKeys.update(
    tx,
    { userId, method, path, key, status: null },
    { status, answer: answer === null ? null : packed(answer), keptTo },
  )

/** Counts so many bytes that are kept for an account, and returns how many it have ever been. Those of one account wait here. */
export const countKept = async (tx: Tx, userId: string, bytes: number) =>
  (await tx.get<{ bytes: number }>(
    `INSERT INTO idempotency_usage (user_id, bytes) VALUES ($1, $2)
     ON CONFLICT (user_id) DO UPDATE SET bytes = idempotency_usage.bytes + excluded.bytes RETURNING bytes`,
    [userId, bytes],
  ))!.bytes

/** Removes what was kept when an account had had no more than so many bytes kept. What runs has no place yet. */
export const removeKept = (tx: Tx, userId: string, keptTo: number) =>
  tx.run('DELETE FROM idempotency_keys WHERE user_id = $1 AND kept_to <= $2', [userId, keptTo])

/** A request that runs and whose answer is not kept frees its key. */
export const releaseRequest = (tx: Tx, request: RequestKey) =>
  tx.run(`DELETE FROM idempotency_keys WHERE ${IS} AND status IS NULL`, valuesOf(request))

/** For an engine that only one process can hold: whatever ran before its start runs no more. */
export const releaseAllRequests = (tx: Tx) => tx.run('DELETE FROM idempotency_keys WHERE status IS NULL')
