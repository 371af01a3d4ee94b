/** Deposits and withdrawals: the transfers between the marketplace and the world. */
import type { Reader, Tx } from '../../db.ts'
import type { Row } from '../table.ts'
import { readPage } from '../table.ts'
import { tallied, tally } from '../tallies.ts'
import { transfers } from './transfers.ts'

export type PaymentKind = 'deposit' | 'withdrawal'
export type PaymentStatus = 'pending' | 'completed' | 'rejected'

export interface PaymentRow extends Row<typeof transfers> {
  kind: PaymentKind
  status: PaymentStatus
}

// The condition of their index, in the same words.
const isPayment = `kind IN ('deposit', 'withdrawal')`

export const paymentById = (q: Reader, kind: PaymentKind, id: string) =>
  q.get<PaymentRow>(`SELECT ${transfers.all} FROM transfers WHERE id = $1 AND kind = $2`, [id, kind])

/** One page of all payments of a kind, oldest first. `status`: null for all. */
export const listPayments = (
  q: Reader,
  kind: PaymentKind,
  status: PaymentStatus | null,
  limit: number,
  offset: number,
) => {
  const only = status === null ? '' : 'AND status = $4'
  return readPage<PaymentRow>(
    q,
    `SELECT ${transfers.all} FROM transfers WHERE kind = $1 AND ${isPayment} ${only} ORDER BY id LIMIT $2 OFFSET $3`,
    [kind, limit, offset, ...(status === null ? [] : [status])],
  )
}

const statuses: readonly PaymentStatus[] = ['pending', 'completed', 'rejected']

export const countPayments = (q: Reader, kind: PaymentKind, status: PaymentStatus | null) =>
  tallied(q, status === null ? statuses.map(each => `${kind} ${each}` as const) : [`${kind} ${status}`])

/** Returns the new row; undefined if the payment was no longer pending. Call `countDecision` after it. */
export const decidePayment = (
  tx: Tx,
  kind: PaymentKind,
  id: string,
  status: Exclude<PaymentStatus, 'pending'>,
  now: number,
  reason: string | null = null,
) =>
  transfers.updated(tx, { id, kind, status: 'pending' }, { status, decidedAt: now, reason }) as Promise<
    PaymentRow | undefined
  >

/** Moves a payment from the count of its old status to that of its new one. */
export const countDecision = (tx: Tx, { id, kind, status }: PaymentRow) =>
  Promise.all([tally(tx, `${kind} pending`, id, -1), tally(tx, `${kind} ${status}`, id, 1)])

/** The sum that an account has deposited, or asked to deposit, since then. Rejected deposits don't count. */
export const depositedSince = async (q: Reader, userId: string, since: number) => {
  const row = await q.get<{ total: number }>(
    `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) AS total FROM transfers
     WHERE payee_id = $1 AND kind = 'deposit' AND status <> 'rejected' AND created_at >= $2`,
    [userId, since],
  )
  return row!.total
}
