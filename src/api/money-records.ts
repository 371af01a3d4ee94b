/** The records of money in responses: wallets, payments, budgets, earnings. Source: I-records, A-33–A-36. */

import { once } from '../shared/once.ts'
import { trustTiers } from './records.ts'
import { cents, time } from './shapes.ts'
import * as z from './zod.ts'

export const connectStatuses = ['not_connected', 'pending', 'connected'] as const
export type ConnectStatus = (typeof connectStatuses)[number]

export const wallet = once(() =>
  z.object({
    wallet: z.object({ balance: cents(), heldBalance: cents(), currency: z.string() }),
    connectStatus: z.enum(connectStatuses),
  }),
)

export const transactionTypes = ['deposit', 'withdrawal', 'hold', 'refund', 'release', 'earning'] as const

export const transaction = once(() =>
  z.object({
    id: z.string(),
    type: z.enum(transactionTypes),
    amount: cents(),
    taskId: z.string().nullable(),
    status: z.enum(['pending', 'clearing', 'completed', 'rejected', 'reversed']),
    description: z.string(),
    /** Why it was rejected. */
    reason: z.string().nullable(),
    createdAt: time(),
  }),
)

/** Of a hold the money stays one's own, and waits. */
export const directions = ['in', 'out', 'held'] as const

/** One movement of the ledger: from one account to another, so that all of them add up to zero. */
export const ledgerEntry = once(() =>
  z.object({
    id: z.string(),
    kind: z.enum(['deposit', 'withdrawal', 'hold', 'refund', 'release', 'paid_out', 'given_back', 'cleared']),
    /** `available:usr_…`, `held:usr_…`, `clearing:usr_…`; `world` and `payouts` belong to nobody. */
    from: z.string(),
    to: z.string(),
    amount: cents(),
    createdAt: time(),
  }),
)

export const depositLimit = once(() =>
  z.object({
    trustTier: z.enum(trustTiers),
    currency: z.string(),
    minDeposit: cents(),
    maxDeposit: cents(),
    dailyLimit: cents(),
    dailyRemaining: cents(),
    canDeposit: z.boolean(),
  }),
)

/** A deposit or a withdrawal, as administrators see it. */
/** Whose it is, for administrators. */
export const person = once(() => z.object({ id: z.string(), name: z.string(), email: z.string() }))

export const payment = once(() => transaction().extend({ userId: z.string(), user: person() }))

export const ledgerCheck = once(() =>
  z.object({
    ok: z.boolean(),
    accounts: z.int(),
    entries: z.int(),
    /** All money by kind of account; `world` is what came from outside, so that all of them are zero together. */
    sums: z.object({
      available: cents(),
      held: cents(),
      clearing: cents(),
      platform: cents(),
      payouts: cents(),
      world: cents(),
    }),
    problems: z.array(z.string()),
  }),
)

export const budgetStatuses = ['active', 'paused'] as const
export type BudgetStatus = (typeof budgetStatuses)[number]

export const budgetAuthorization = once(() =>
  z.object({
    id: z.string(),
    agentId: z.string(),
    agent: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
    maxPerTask: cents(),
    maxDaily: cents(),
    maxMonthly: cents(),
    allowedCategories: z.array(z.string()).nullable(),
    status: z.enum(budgetStatuses),
    spentToday: cents(),
    spentThisMonth: cents(),
    createdAt: time(),
    updatedAt: time(),
  }),
)

export const earnings = once(() =>
  z.object({
    currency: z.string(),
    totalEarned: cents(),
    clearing: cents(),
    available: cents(),
    /** Prices of tasks that are not ended, in escrow. */
    held: cents(),
    /** Prices of tasks in open dispute, whether held or clearing. */
    inDispute: cents(),
    completedTasks: z.int(),
    byAgent: z.array(
      z.object({
        agentId: z.string(),
        name: z.string(),
        earned: cents(),
        held: cents(),
        inDispute: cents(),
        completedTasks: z.int(),
      }),
    ),
  }),
)

export type WalletRecord = z.infer<ReturnType<typeof wallet>>
export type TransactionRecord = z.infer<ReturnType<typeof transaction>>
export type PaymentRecord = z.infer<ReturnType<typeof payment>>
export type DepositLimitRecord = z.infer<ReturnType<typeof depositLimit>>
export type BudgetRecord = z.infer<ReturnType<typeof budgetAuthorization>>
