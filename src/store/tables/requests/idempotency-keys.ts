/** Requests by their Idempotency-Key, and the responses that are kept for a repeat. Source: A-39. */
import type { Reader, Tx } from '../../db.ts'
import { packed, unpacked } from '../../packed-text.ts'
import { bigint, integer, nullable, type Row, table, text } from '../table.ts'

export const idempotencyKeys = table('idempotency_keys', {
  userId: text(),
  method: text(),
  path: text(),
  key: text(),
  fingerprint: text(),
  /** Null while the request runs. */
  status: nullable(integer()),
  /** Null while the request runs, and if the response contained a secret. */
  answer: nullable(text()),
  /** Real time. */
  runningUntil: bigint(),
  createdAt: bigint(),
  /** The sum of all bytes that were ever kept for the account, up to this response. Null while the request runs. */
  keptTo: nullable(bigint()),
})

/** The sum of all bytes that were ever kept for each account. The responses with the smallest `keptTo` are the oldest. */
export const idempotencyUsage = table('idempotency_usage', { userId: text(), bytes: bigint() })

type IdempotencyKeyRow = Row<typeof idempotencyKeys>

/** One request of one account. */
export type RequestKey = Pick<IdempotencyKeyRow, 'userId' | 'method' | 'path' | 'key'>

const kept = ['fingerprint', 'status', 'answer'] as const
export type KeyedRow = Pick<IdempotencyKeyRow, (typeof kept)[number]>

const IS = 'user_id = $1 AND method = $2 AND path = $3 AND key = $4'
const valuesOf = ({ userId, method, path, key }: RequestKey) => [userId, method, path, key]

// Nothing is kept of a request that runs.
const claimed = idempotencyKeys.insertValues(
  [
    {
      userId: '$1',
      method: '$2',
      path: '$3',
      key: '$4',
      fingerprint: '$5',
      runningUntil: '$6',
      createdAt: '$7',
      status: 'NULL',
      answer: 'NULL',
      keptTo: 'NULL',
    },
  ],
  `${idempotencyKeys.replacing(
    ['userId', 'method', 'path', 'key'],
    ['fingerprint', 'runningUntil', 'createdAt', 'status', 'answer', 'keptTo'],
  )}
   WHERE (idempotency_keys.status IS NOT NULL AND idempotency_keys.created_at <= $8)
     OR (idempotency_keys.status IS NULL AND idempotency_keys.running_until <= $9)`,
)

/**
 * Returns 0 if the key is in use: its request ended after `keptSince` (domain ms), or may still run at `realNow`.
 */
export const claimRequest = (
  tx: Tx,
  request: RequestKey,
  claim: { fingerprint: string; now: number; keptSince: number; realNow: number; runningUntil: number },
) =>
  tx.run(claimed, [
    ...valuesOf(request),
    claim.fingerprint,
    claim.runningUntil,
    claim.now,
    claim.keptSince,
    claim.realNow,
  ])

export async function requestByKey(q: Reader, request: RequestKey): Promise<KeyedRow | undefined> {
  const sql = `SELECT ${idempotencyKeys.some(kept)} FROM idempotency_keys WHERE ${IS}`
  const row = await q.get<KeyedRow>(sql, valuesOf(request))
  return row && { ...row, answer: row.answer === null ? null : unpacked(row.answer) }
}

/** Keeps the response of a request that runs. */
export const keepResponse = (
  tx: Tx,
  { userId, method, path, key }: RequestKey,
  { status, answer, keptTo }: { status: number; answer: string | null; keptTo: number },
) =>
  idempotencyKeys.update(
    tx,
    { userId, method, path, key, status: null },
    { status, answer: answer === null ? null : packed(answer), keptTo },
  )

const counted = idempotencyUsage.insertValues(
  [{ userId: '$1', bytes: '$2' }],
  'ON CONFLICT (user_id) DO UPDATE SET bytes = idempotency_usage.bytes + excluded.bytes RETURNING bytes',
)

/** Adds `bytes` to what was ever kept for the account, and returns the sum. Requests of one account wait for each other here. */
export const countKept = async (tx: Tx, userId: string, bytes: number) =>
  (await tx.get<{ bytes: number }>(counted, [userId, bytes]))!.bytes

/** Removes the responses up to this `keptTo`. Requests that run have none yet, so they stay. */
export const removeKept = (tx: Tx, userId: string, keptTo: number) =>
  tx.run('DELETE FROM idempotency_keys WHERE user_id = $1 AND kept_to <= $2', [userId, keptTo])

/** Frees the key of a request that ran and whose response is not kept. */
export const releaseRequest = (tx: Tx, request: RequestKey) =>
  tx.run(`DELETE FROM idempotency_keys WHERE ${IS} AND status IS NULL`, valuesOf(request))

/** Frees the keys of requests that a dead process was running. Only for an engine that one process has at a time. */
export const releaseAllRequests = (tx: Tx) => tx.run('DELETE FROM idempotency_keys WHERE status IS NULL')
