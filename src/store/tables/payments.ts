/** Deposits and withdrawals: the transfers between the marketplace and the world. */
import { columns, type Reader, type Tx } from '../db.ts'
import { tallied, tally } from './tallies.ts'
import { isIncome } from './transfers.ts'

export type PaymentKind = 'deposit' | 'withdrawal'
export type PaymentStatus = 'pending' | 'completed' | 'rejected'

export interface PaymentRow {
  id: string
  kind: PaymentKind
  payerId: string | null
  payeeId: string | null
  amount: number
  taskId: string | null
  status: PaymentStatus
  description: string
  createdAt: number
}

const paymentColumns = columns(
  'id',
  'kind',
  'payerId',
  'payeeId',
  'amount',
  'taskId',
  'status',
  'description',
  'createdAt',
)

// The condition of their index, in the same words.
const isPayment = `kind IN ('deposit', 'withdrawal')`

export const paymentById = (q: Reader, kind: PaymentKind, id: string) =>
  q.get<PaymentRow>(`SELECT ${paymentColumns} FROM transfers WHERE id = $1 AND kind = $2`, [id, kind])

/** One page of everyone's payments of a kind, oldest first; of every status if it is null. */
export const listPayments = (
  q: Reader,
  kind: PaymentKind,
  status: PaymentStatus | null,
  limit: number,
  offset: number,
) => {
  const only = status === null ? '' : 'AND status = $4'
  return q.all<PaymentRow>(
    `SELECT ${paymentColumns} FROM transfers WHERE kind = $1 AND ${isPayment} ${only} ORDER BY id LIMIT $2 OFFSET $3`,
    [kind, limit, offset, ...(status === null ? [] : [status])],
  )
}

const statuses: readonly PaymentStatus[] = ['pending', 'completed', 'rejected']

export const countPayments = (q: Reader, kind: PaymentKind, status: PaymentStatus | null) =>
  tallied(q, status === null ? statuses.map(each => `${kind} ${each}` as const) : [`${kind} ${status}`])

/** Answers the row as it is then; undefined if it was not pending any more. `countDecision` comes behind it. */
export const decidePayment = (
  tx: Tx,
  kind: PaymentKind,
  id: string,
  status: Exclude<PaymentStatus, 'pending'>,
  now: number,
) =>
  tx.get<PaymentRow>(
    `UPDATE transfers SET status = $3, decided_at = $4 WHERE id = $1 AND kind = $2 AND status = 'pending'
     RETURNING ${paymentColumns}`,
    [id, kind, status, now],
  )

/** Counts a payment where it stands after its decision. */
export const countDecision = (tx: Tx, { id, kind, status }: PaymentRow) =>
  Promise.all([tally(tx, `${kind} pending`, id, -1), tally(tx, `${kind} ${status}`, id, 1)])

/** What an account has deposited since then, or asked to; rejected deposits don't count. */
export const depositedSince = async (q: Reader, userId: string, since: number) => {
  const row = await q.get<{ total: number }>(
    `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) AS total FROM transfers
     WHERE payee_id = $1 AND ${isIncome} AND kind = 'deposit' AND status <> 'rejected' AND created_at >= $2`,
    [userId, since],
  )
  return row!.total
}
