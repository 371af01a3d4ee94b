/** The ledger: accounts, transfers, their entries, and how the hold of each task was settled. Source: A-33. */

import { limits } from '../../../api/limits.ts'
import type { Reader, Step, Tx } from '../../db.ts'
import {
  bigint,
  Conditions,
  countShown,
  defaulted,
  flag,
  type NewRow,
  nullable,
  type Row,
  readPage,
  table,
  text,
} from '../table.ts'
import { tallyStep } from '../tallies.ts'
import { wrongSums } from '../tasks/work-sums.ts'

export const ledgerAccounts = table('accounts', {
  /** `available:usr_…`, `held:usr_…`, `clearing:usr_…`, or the kind alone if it belongs to no user. */
  id: text(),
  userId: nullable(text()),
  kind: text<'available' | 'held' | 'clearing' | 'world' | 'payouts' | 'platform'>(),
  balance: defaulted(bigint()),
})

export type TransferKind = 'deposit' | 'withdrawal' | 'hold' | 'refund' | 'release'
/** The first movement of a transfer has its kind; what becomes of the money later has its own. */
export type EntryKind = TransferKind | 'paid_out' | 'given_back' | 'cleared'

export const transfers = table('transfers', {
  id: text(),
  kind: text<TransferKind>(),
  payerId: nullable(text()),
  payeeId: nullable(text()),
  amount: bigint(),
  taskId: nullable(text()),
  status: text<'pending' | 'clearing' | 'completed' | 'rejected' | 'reversed'>(),
  description: text(),
  createdAt: bigint(),
  decidedAt: nullable(bigint()),
  /** Why it was rejected. */
  reason: nullable(text()),
})

export const ledgerEntries = table('entries', {
  /** The transfer's, or an id that is made from the transfer's or its task's. */
  legId: text(),
  kind: text<EntryKind>(),
  debitedId: text(),
  creditedId: text(),
  amount: bigint(),
  createdAt: bigint(),
})

export const settlements = table('settlements', {
  taskId: text(),
  builderId: text(),
  released: bigint(),
  refunded: bigint(),
  status: text<'clearing' | 'final'>(),
  reversed: defaulted(flag()),
  clearsAt: nullable(bigint()),
  createdAt: bigint(),
})

export type TransferRow = Omit<Row<typeof transfers>, 'decidedAt' | 'reason'>
export type SettlementRow = Row<typeof settlements>

/** Transfers that a payee has received. There is an index of just these; SQLite uses it only if the condition has the same text. */
export const isIncome = `kind <> 'hold' AND kind <> 'withdrawal'`

const kindsOfUser = ['available', 'held', 'clearing'] as const
const accountsOfUser = ledgerAccounts.insertValues(
  kindsOfUser.map(kind => ({ id: `'${kind}:' || $1`, userId: '$1', kind: `'${kind}'` })),
)

export const insertAccounts = (tx: Tx, userId: string) => tx.run(accountsOfUser, [userId])

/** Changes nothing if the account would go below zero. */
export const debit = (accountId: string, amount: number): Step => ({
  sql: `UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND (kind = 'world' OR balance >= $2)`,
  values: [accountId, amount],
})

export const credit = (accountId: string, amount: number): Step => ({
  sql: 'UPDATE accounts SET balance = balance + $2 WHERE id = $1',
  values: [accountId, amount],
})

export const entry = (row: Row<typeof ledgerEntries>): Step => ledgerEntries.insertStep(row)

/** Returns the steps that insert a transfer and count it. */
export function transfer(row: TransferRow): Step[] {
  const { id, kind, status } = row
  const inserted = transfers.insertStep(row)
  const isPayment = (kind === 'deposit' || kind === 'withdrawal') && (status === 'pending' || status === 'completed')
  return isPayment ? [inserted, tallyStep(`${kind} ${status}`, id, 1)] : [inserted]
}

export const setReleaseStatus = (tx: Tx, taskId: string, status: TransferRow['status']) =>
  // The kind is a literal; with a parameter the index of releases would not be used.
  tx.run(`UPDATE transfers SET status = $2 WHERE task_id = $1 AND kind = 'release'`, [taskId, status])

export const balancesOf = (q: Reader, userId: string) =>
  q.all<{ kind: 'available' | 'held' | 'clearing'; balance: number }>(
    `SELECT kind, balance FROM accounts
     WHERE id IN ('available:' || $1, 'held:' || $1, 'clearing:' || $1) ORDER BY id`,
    [userId],
  )

export const settlementStep = (row: NewRow<typeof settlements>): Step => settlements.insertStep(row)

/**
 * Ends the clearing of a payment. Returns undefined if it has ended already, or if a dispute is open and `despiteDispute` is 0.
 * No other statement decides between clearing and a dispute.
 */
export const endClearing = (tx: Tx, taskId: string, despiteDispute: 0 | 1) =>
  tx.get<SettlementRow & { agentId: string }>(
    `UPDATE settlements SET status = 'final' WHERE task_id = $1 AND status = 'clearing'
       AND ($2 = 1 OR NOT EXISTS (SELECT 1 FROM disputes d WHERE d.task_id = $1 AND d.status = 'open'))
     RETURNING ${settlements.all}, (SELECT t.agent_id FROM tasks t WHERE t.id = $1) AS "agentId"`,
    [taskId, despiteDispute],
  )

/** Reverses `amount` of a payment whose clearing has just ended. Returns 0 if it was reversed before. */
export const reverseSettlement = (tx: Tx, taskId: string, amount: number) =>
  tx.run(
    `UPDATE settlements SET released = released - $2, refunded = refunded + $2, reversed = 1
     WHERE task_id = $1 AND reversed = 0 AND released >= $2`,
    [taskId, amount],
  )

export const isClearing = async (q: Reader, taskId: string) =>
  (await q.get(`SELECT 1 AS one FROM settlements WHERE task_id = $1 AND status = 'clearing'`, [taskId])) !== undefined

export interface DueClearing {
  taskId: string
  clearsAt: number
}

/** In the order of their times, behind `after`. */
export const dueClearings = (q: Reader, now: number, after: DueClearing | null, count: number) =>
  q.all<DueClearing>(
    `SELECT ${settlements.some(['taskId', 'clearsAt'], 's')} FROM settlements s
     WHERE s.status = 'clearing' AND s.clears_at <= $1 AND s.clears_at >= $3 AND (s.clears_at > $3 OR s.task_id > $4)
       AND NOT EXISTS (SELECT 1 FROM disputes d WHERE d.task_id = s.task_id AND d.status = 'open')
     ORDER BY s.clears_at, s.task_id LIMIT $2`,
    [now, count, after?.clearsAt ?? 0, after?.taskId ?? ''],
  )

export interface StatementRow {
  id: string
  amount: number
  taskId: string | null
  description: string
  reason: string | null
  createdAt: number
  status: 'pending' | 'clearing' | 'completed' | 'rejected' | 'reversed'
  type: 'deposit' | 'withdrawal' | 'hold' | 'refund' | 'release' | 'earning'
}

type LineType = StatementRow['type']

type Direction = 'in' | 'out' | 'held'

interface Side {
  readonly columns: string
  readonly whose: string
}

// What is paid for oneself shows on both sides, under two types.
const paid: Side = {
  columns: `t.id, t.amount, t.task_id AS "taskId", t.description, t.created_at AS "createdAt", t.reason,
    CASE WHEN t.kind = 'release' THEN 'completed' ELSE t.status END AS status, t.kind AS type`,
  whose: 't.payer_id = $1',
}

const received: Side = {
  columns: `CASE WHEN t.kind = 'release' THEN t.id || '_earning' ELSE t.id END AS id,
    COALESCE((SELECT s.released FROM settlements s
      WHERE t.kind = 'release' AND s.task_id = t.task_id AND s.reversed = 1 AND s.released > 0), t.amount) AS amount,
    t.task_id AS "taskId", t.description, t.created_at AS "createdAt", t.reason, t.status,
    CASE WHEN t.kind = 'release' THEN 'earning' ELSE t.kind END AS type`,
  whose: `t.payee_id = $1 AND ${isIncome}`,
}

/** A user's own sides of transfers. Source: A-35. */
const lines = {
  hold: { side: paid, kind: 'hold', direction: 'held' },
  withdrawal: { side: paid, kind: 'withdrawal', direction: 'out' },
  release: { side: paid, kind: 'release', direction: 'out' },
  deposit: { side: received, kind: 'deposit', direction: 'in' },
  refund: { side: received, kind: 'refund', direction: 'in' },
  earning: { side: received, kind: 'release', direction: 'in' },
} as const satisfies Record<LineType, { side: Side; kind: TransferKind; direction: Direction }>

export const directionOf = (type: LineType): Direction => lines[type].direction

/** Which lines of a user's statement are wanted; null: whatever it is. */
export interface StatementFilter {
  readonly userId: string
  readonly type: LineType | null
  readonly direction: Direction | null
  readonly taskId: string | null
  /** Domain ms; `to` is the first that is left out. */
  readonly from: number | null
  readonly to: number | null
}

/** Each part reads one range of an index. */
function wantedOf({ userId, type, direction, taskId, from, to }: StatementFilter) {
  const where = new Conditions()
  where.value(userId)
  const ofTask = taskId === null ? null : `t.task_id = ${where.value(taskId)}`
  where.add(from, time => `t.created_at >= ${time}`)
  where.add(to, time => `t.created_at < ${time}`)
  const parts = Object.entries(lines)
    .filter(([name, line]) => (type ?? name) === name && (direction ?? line.direction) === line.direction)
    .map(([, { side, kind }]) => {
      // The kind comes first: of two conditions on it SQLite uses the first, and with the other it would sort all received transfers.
      const condition = `t.kind = '${kind}' AND ${side.whose}`
      const all = `FROM transfers t WHERE ${condition}`
      if (ofTask === null && where.text === '') return { columns: side.columns, from: all }
      const found = ofTask === null ? all : `FROM transfers t WHERE ${ofTask}`
      const newest = `SELECT * ${found} ORDER BY t.id DESC LIMIT ${limits.page.reach}`
      return {
        columns: side.columns,
        from: `FROM (${newest}) t WHERE ${[condition, where.text].filter(Boolean).join(' AND ')}`,
      }
    })
  return { parts, values: where.values }
}

/** One page, newest first. */
export const statementOf = async (q: Reader, filter: StatementFilter, limit: number, offset: number) => {
  const { parts, values } = wantedOf(filter)
  if (parts.length === 0) return []
  const [end, most, before] = [1, 2, 3].map(number => `$${values.length + number}`)
  const sides = parts.map(
    ({ columns, from }, i) => `SELECT * FROM (SELECT ${columns} ${from} ORDER BY t.id DESC LIMIT ${end}) side${i}`,
  )
  return readPage<StatementRow>(q, `${sides.join(' UNION ALL ')} ORDER BY id DESC LIMIT ${most} OFFSET ${before}`, [
    ...values,
    limit + offset,
    limit,
    offset,
  ])
}

export const statementLength = async (q: Reader, filter: StatementFilter) => {
  const { parts, values } = wantedOf(filter)
  if (parts.length === 0) return 0
  return countShown(
    q,
    parts.map(({ from }) => from),
    values,
  )
}

/** The entries with these ids, in order. */
export const entriesOf = async (q: Reader, ids: readonly string[]) =>
  ids.length === 0
    ? []
    : q.all<Row<typeof ledgerEntries>>(
        `SELECT ${ledgerEntries.all} FROM entries WHERE leg_id IN (${ids.map((_, i) => `$${i + 1}`).join(', ')})
         ORDER BY created_at, leg_id`,
        ids,
      )

/** What one of `ledgerFaults` finds first. */
export const firstFaults = (q: Reader, sql: string, most: number) =>
  q.all<{ what: string }>(`SELECT what FROM (${sql}) AS faults LIMIT ${most}`)

/** Each SELECT looks for one fault that the ledger must never have. `what` names the row that has it. */
export const ledgerFaults: readonly { readonly problem: string; readonly sql: string }[] = [
  {
    problem: 'an account is not the sum of its entries',
    sql: `SELECT a.id AS what FROM accounts a LEFT JOIN (
            SELECT debited_id AS id, -amount AS cents FROM entries UNION ALL SELECT credited_id, amount FROM entries
          ) e ON e.id = a.id GROUP BY a.id, a.balance HAVING a.balance <> COALESCE(SUM(e.cents), 0)`,
  },
  {
    problem: 'an account is below zero',
    sql: `SELECT id AS what FROM accounts WHERE balance < 0 AND kind <> 'world'`,
  },
  {
    problem: 'the accounts do not sum to zero',
    sql: `SELECT 'all accounts' AS what WHERE (SELECT SUM(balance) FROM accounts) <> 0`,
  },
  {
    problem: 'an account holds another sum than its open tasks',
    sql: `SELECT a.id AS what FROM accounts a LEFT JOIN tasks t
            ON t.buyer_id = a.user_id AND t.status IN ('pending', 'in_progress', 'delivered')
          WHERE a.kind = 'held' GROUP BY a.id, a.balance HAVING a.balance <> COALESCE(SUM(t.agreed_price), 0)`,
  },
  {
    problem: 'an account clears another sum than its payments',
    sql: `SELECT a.id AS what FROM accounts a LEFT JOIN settlements s
            ON s.builder_id = a.user_id AND s.status = 'clearing'
          WHERE a.kind = 'clearing' GROUP BY a.id, a.balance HAVING a.balance <> COALESCE(SUM(s.released), 0)`,
  },
  {
    problem: 'payouts holds another sum than the withdrawals that wait',
    sql: `SELECT id AS what FROM accounts WHERE kind = 'payouts'
            AND balance <> (SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE kind = 'withdrawal' AND status = 'pending')`,
  },
  {
    problem: 'the world owes another sum than what has come in and not gone out',
    sql: `SELECT id AS what FROM accounts WHERE kind = 'world' AND balance <>
            (SELECT COALESCE(SUM(CASE WHEN kind = 'withdrawal' THEN amount ELSE -amount END), 0) FROM transfers
             WHERE kind IN ('deposit', 'withdrawal') AND status = 'completed')`,
  },
  {
    problem: 'platform holds money, although there is no fee',
    sql: `SELECT id AS what FROM accounts WHERE kind = 'platform' AND balance <> 0`,
  },
  {
    problem: 'a settlement does not add up to the agreed price',
    sql: `SELECT s.task_id AS what FROM settlements s JOIN tasks t ON t.id = s.task_id
          WHERE s.released + s.refunded <> t.agreed_price`,
  },
  {
    problem: 'a task is settled while its price is held, or ended without a settlement',
    sql: `SELECT t.id AS what FROM tasks t LEFT JOIN settlements s ON s.task_id = t.id
          WHERE t.submitted_at IS NOT NULL
            AND (t.status IN ('completed', 'cancelled')) <> (s.task_id IS NOT NULL)`,
  },
  { problem: 'the sums of work are not those of the tasks', sql: wrongSums },
]

export const ledgerSize = async (q: Reader) => ({
  accounts: (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM accounts'))!.count,
  entries: (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM entries'))!.count,
})

type AccountKind = 'available' | 'held' | 'clearing' | 'world' | 'payouts' | 'platform'

/** All money, by kind of account. */
export const sumsByKind = (q: Reader) =>
  q.all<{ kind: AccountKind; cents: number }>(
    'SELECT kind, CAST(SUM(balance) AS BIGINT) AS cents FROM accounts GROUP BY kind ORDER BY kind',
  )
