/** The balances, transactions and earnings of a wallet. Source: I-wallet-shape, A-33, A-35. */

import type { InputOf } from '../../api/endpoint.ts'
import type { Endpoints } from '../../api/endpoints/index.ts'
import { money, refuse } from '../../api/failures.ts'
import { depositLimits, durations, limits } from '../../api/limits.ts'
import type { DepositLimitRecord, PaymentRecord, TransactionRecord } from '../../api/money-records.ts'
import { rowsOf } from '../../api/page.ts'
import type { Reader } from '../../store/db.ts'
import { type People, peopleById, type UserRow, updateUser, userById } from '../../store/tables/accounts/users.ts'
import {
  countDecision,
  countPayments,
  decidePayment,
  depositedSince,
  listPayments,
  type PaymentKind,
  type PaymentRow,
  type PaymentStatus,
  paymentById,
} from '../../store/tables/money/payments.ts'
import { directionOf, entriesOf, statementLength, statementOf, transfer } from '../../store/tables/money/transfers.ts'
import { totalOf } from '../../store/tables/table.ts'
import { type AgentSums, earningsOf } from '../../store/tables/tasks/work-sums.ts'
import { trustTierOf } from '../accounts/accounts.ts'
import { type News, notifyOfDecision } from '../accounts/notifications.ts'
import { requireSecondFactor } from '../accounts/second-factor.ts'
import { Changes } from '../changes.ts'
import type { Acting, Ctx, ReadCtx } from '../market.ts'
import { account, balances, type Leg, ledgerProblems, post, postLeg } from '../money/ledger.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'

const getWallet: Verb<'getWallet'> = async ({ tx, config, actor }) => {
  const { available, held, clearing } = await balances(tx, actor.user.id)
  return {
    wallet: { balance: available + clearing, heldBalance: held, currency: config.currency },
    connectStatus: actor.user.connectStatus,
  }
}

type Asked = InputOf<Endpoints['listTransactions']>['query']

const timeIn = (given: string | undefined) => (given === undefined ? null : Date.parse(given))

async function statement({ tx, actor }: Acting<ReadCtx>, query: Asked) {
  const { type = null, direction = null, taskId = null, from, to } = query
  const filter = { userId: actor.user.id, type, direction, taskId, from: timeIn(from), to: timeIn(to) }
  const span = rowsOf(query)
  const [rows, counted] = await Promise.all([statementOf(tx, filter, ...span), statementLength(tx, filter)])
  const items = rows.map(row => ({ ...row, createdAt: iso(row.createdAt), direction: directionOf(row.type) }))
  return { items, total: await totalOf(rows, span, counted) }
}

const listTransactions: Verb<'listTransactions'> = (ctx, { query }) => statement(ctx, query)

/** What moved the money of a transaction, at once and later. */
const entryIds = ({ id, taskId, type }: Pick<TransactionRecord, 'id' | 'taskId' | 'type'>) =>
  type === 'earning' ? [id.replace(/_earning$/, ''), `${taskId}_cleared`] : [id, `${id}_paid`, `${id}_back`]

const listLedger: Verb<'listLedger'> = async (ctx, { query }) => {
  const { items, total } = await statement(ctx, query)
  const entries = await entriesOf(ctx.tx, [...new Set(items.flatMap(entryIds))])
  const records = new Map(
    entries.map(({ legId: id, kind, debitedId: from, creditedId: to, amount, createdAt }) => [
      id,
      { id, kind, from, to, amount, createdAt: iso(createdAt) },
    ]),
  )
  return {
    items: items.map(item => ({ ...item, entries: entryIds(item).flatMap(id => records.get(id) ?? []) })),
    total,
  }
}

/**
 * Net of reversals. A task between a builder and their own agent moves money, so it shows here, but it is not a completed
 * task. Source.
 */
const getEarnings: Verb<'getEarnings'> = async ({ tx, config, actor }) => {
  const rows = await earningsOf(tx, actor.user.id)
  const sum = (field: keyof AgentSums) => rows.reduce((total, row) => total + row[field], 0)
  const [totalEarned, clearing] = [sum('earned'), sum('clearing')]
  return {
    currency: config.currency,
    totalEarned,
    clearing,
    available: totalEarned - clearing,
    held: sum('held'),
    inDispute: sum('inDispute'),
    completedTasks: sum('done'),
    byAgent: rows.map(({ clearing: _, done: completedTasks, ...row }) => ({ ...row, completedTasks })),
  }
}

const checkLedger: Verb<'checkLedger'> = ({ tx }) => ledgerProblems(tx)

export const walletVerbs = { getWallet, listTransactions, listLedger, getEarnings, checkLedger }

const transactionRecord = (row: PaymentRow): TransactionRecord => ({
  id: row.id,
  type: row.kind,
  amount: row.amount,
  taskId: row.taskId,
  status: row.status,
  description: row.description,
  reason: row.reason,
  createdAt: iso(row.createdAt),
})

const ownerOf = (row: PaymentRow) => (row.kind === 'deposit' ? row.payeeId : row.payerId)!

const paymentRecord = (row: PaymentRow, people: People): PaymentRecord => ({
  ...transactionRecord(row),
  userId: ownerOf(row),
  user: people.get(ownerOf(row))!,
})

const written = async (tx: Reader, kind: PaymentKind, id: string) =>
  transactionRecord((await paymentById(tx, kind, id))!)

/** Returns what the account may deposit now, in cents. Days are UTC. */
async function limitsOf(q: Reader, user: UserRow, now: number) {
  const trustTier = trustTierOf(user, now)
  const { each, perDay } = depositLimits[trustTier]
  const today = now - (now % durations.dayMs)
  return { trustTier, each, perDay, left: Math.max(0, perDay - (await depositedSince(q, user.id, today))) }
}

const getDepositLimits: Verb<'getDepositLimits'> = async ({
  tx,
  world,
  config,
  actor,
}): Promise<DepositLimitRecord> => {
  const { trustTier, each, perDay, left } = await limitsOf(tx, actor.user, world.now())
  return {
    trustTier,
    currency: config.currency,
    minDeposit: limits.price.min,
    maxDeposit: each,
    dailyLimit: perDay,
    dailyRemaining: left,
    canDeposit: Math.min(each, left) >= limits.price.min,
  }
}

async function checkLimits({ tx, world, actor }: Acting<Ctx>, amount: number): Promise<void> {
  // Locked; otherwise two deposits at once could both fit into the rest of the day's limit.
  await tx.lock('users', actor.user.id)
  const { trustTier, each, perDay, left } = await limitsOf(tx, actor.user, world.now())
  const tier = `an account that is ${trustTier}`
  if (amount > each) {
    throw refuse('deposit_limit', `A deposit of ${tier} may be ${money(each)} at most; this is ${money(amount)}`)
  }
  if (amount > left) {
    throw refuse(
      'deposit_limit',
      `The deposits of ${tier} may be ${money(perDay)} a day (UTC); ${money(left)} is left today, this is ${money(amount)}`,
    )
  }
}

/** Tells pages of a payment that moves nothing yet, or never; the ledger tells of the others. */
const tellOwner = ({ tx, memory, world }: Ctx, userId: string, what: string) =>
  tx.afterCommit(() => memory.of(Changes).tell([userId], world.now(), { type: 'wallet', what }))

const deposit: Verb<'deposit'> = async (ctx, { body: { amount } }) => {
  await checkLimits(ctx, amount)
  const { tx, world, config, actor } = ctx
  const what = {
    id: world.id('trf', actor.user.id),
    kind: 'deposit' as const,
    payerId: null,
    payeeId: actor.user.id,
    amount,
    taskId: null,
    description: 'Deposit',
  }
  if (config.payments === 'sandbox') {
    await post(ctx, { ...what, status: 'completed', from: account.world, to: account.available(actor.user.id) })
  } else {
    // No money moves before an administrator confirms that it has arrived.
    await tx.runAll(transfer({ ...what, status: 'pending', createdAt: world.now() }))
    tellOwner(ctx, actor.user.id, 'deposit')
  }
  return written(tx, 'deposit', what.id)
}

/** Moves the money of a payment that was written before. The first leg has the payment's id, a later one an id made from it. */
async function moveLater(ctx: Ctx, payment: PaymentKind, leg: Leg) {
  await postLeg(ctx, leg)
  const { amount, from, to } = leg
  ctx.tx.afterCommit(() => ctx.log({ type: 'money', kind: payment, amount, from, to, taskId: null }))
}

const payOut = (ctx: Ctx, id: string, amount: number) =>
  moveLater(ctx, 'withdrawal', {
    id: `${id}_paid`,
    kind: 'paid_out',
    from: account.payouts,
    to: account.world,
    amount,
  })

const withdraw: Verb<'withdraw'> = async (ctx, { body: { amount } }) => {
  const { tx, config, actor } = ctx
  const { id: userId, connectStatus } = actor.user
  if (connectStatus === 'pending') throw refuse('payouts_pending')
  if (connectStatus !== 'connected') throw refuse('not_connected')
  const atOnce = config.payments === 'sandbox'
  const id = await post(ctx, {
    kind: 'withdrawal',
    payerId: userId,
    payeeId: null,
    amount,
    taskId: null,
    status: atOnce ? 'completed' : 'pending',
    description: 'Withdrawal',
    from: account.available(userId),
    to: account.payouts,
  })
  if (atOnce) await payOut(ctx, id, amount)
  return written(tx, 'withdrawal', id)
}

const connectPayouts: Verb<'connectPayouts'> = async ({ tx, config, actor }) => {
  const { id, connectStatus } = (await userById(tx, actor.user.id))!
  if (connectStatus === 'connected') return { connectStatus }
  const next = config.payments === 'sandbox' ? 'connected' : 'pending'
  await updateUser(tx, id, { connectStatus: next })
  return { connectStatus: next }
}

interface PaymentQuery {
  page: number
  limit: number
  status?: PaymentStatus | undefined
}

async function list(kind: PaymentKind, { tx }: ReadCtx, { page, limit, status }: PaymentQuery) {
  const [rows, total] = await Promise.all([
    listPayments(tx, kind, status ?? null, ...rowsOf({ page, limit })),
    countPayments(tx, kind, status ?? null),
  ])
  const people = await peopleById(tx, rows.map(ownerOf))
  return { items: rows.map(row => paymentRecord(row, people)), total }
}

const adminListDeposits: Verb<'adminListDeposits'> = (ctx, { query }) => list('deposit', ctx, query)
const adminListWithdrawals: Verb<'adminListWithdrawals'> = (ctx, { query }) => list('withdrawal', ctx, query)

interface Deciding {
  readonly reason?: string | null
  readonly move?: (row: PaymentRow) => Promise<void>
}

/**
 * Decides a pending payment, and moves its money by `move`. Of two administrators at once, one is refused. Tallies are
 * updated after the money, in the same order as where a payment is made; otherwise the two could deadlock.
 */
async function decide(
  ctx: Acting<Ctx>,
  kind: PaymentKind,
  id: string,
  status: 'completed' | 'rejected',
  { reason = null, move = async () => {} }: Deciding = {},
) {
  const { tx, world } = ctx
  await requireSecondFactor(ctx)
  const row = await decidePayment(tx, kind, id, status, world.now(), reason)
  if (!row) {
    const decided = await paymentById(tx, kind, id)
    throw decided ? refuse('payment_decided', decided.status) : refuse('not_found', kind)
  }
  await move(row)
  await countDecision(tx, row)
  await notifyOfDecision(ctx, ownerOf(row), decidedNews(row, status, reason, ctx.config))
  return paymentRecord(row, await peopleById(tx, [ownerOf(row)]))
}

const ends = {
  deposit: { completed: 'was confirmed', rejected: 'was rejected' },
  withdrawal: { completed: 'was paid out', rejected: 'was rejected, and the money is back in the wallet' },
} as const

const decidedNews = (
  { id, kind, amount }: PaymentRow,
  status: 'completed' | 'rejected',
  reason: string | null,
  { currency }: Ctx['config'],
): News<'payment_decided'> => ({
  type: 'payment_decided',
  agentId: null,
  message: `The ${kind} of ${money(amount)} ${currency} ${ends[kind][status]}`,
  data: { transactionId: id, type: kind, amount, status, reason },
})

const confirmDeposit: Verb<'confirmDeposit'> = (ctx, { params }) =>
  decide(ctx, 'deposit', params.id, 'completed', {
    move: row =>
      moveLater(ctx, 'deposit', {
        id: row.id,
        kind: 'deposit',
        from: account.world,
        to: account.available(ownerOf(row)),
        amount: row.amount,
      }),
  })

const rejectDeposit: Verb<'rejectDeposit'> = (ctx, { params, body }) =>
  decide(ctx, 'deposit', params.id, 'rejected', {
    reason: body.reason || null,
    move: async row => tellOwner(ctx, ownerOf(row), 'rejected'),
  })

const confirmWithdrawal: Verb<'confirmWithdrawal'> = (ctx, { params }) =>
  decide(ctx, 'withdrawal', params.id, 'completed', { move: row => payOut(ctx, row.id, row.amount) })

const rejectWithdrawal: Verb<'rejectWithdrawal'> = (ctx, { params, body }) =>
  decide(ctx, 'withdrawal', params.id, 'rejected', {
    reason: body.reason || null,
    move: row =>
      moveLater(ctx, 'withdrawal', {
        id: `${row.id}_back`,
        kind: 'given_back',
        from: account.payouts,
        to: account.available(ownerOf(row)),
        amount: row.amount,
      }),
  })

export const paymentVerbs = {
  getDepositLimits,
  deposit,
  withdraw,
  connectPayouts,
  adminListDeposits,
  adminListWithdrawals,
  confirmDeposit,
  rejectDeposit,
  confirmWithdrawal,
  rejectWithdrawal,
}
