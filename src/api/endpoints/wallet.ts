/** Balance, transactions, deposits and withdrawals. Source: I-wallet, A-33–A-35. */

import { endpoint } from '../endpoint.ts'
import { limits } from '../limits.ts'
import {
  connectStatuses,
  depositLimit,
  directions,
  earnings,
  ledgerEntry,
  transaction,
  transactionTypes,
  wallet as walletRecord,
} from '../money-records.ts'
import { id, moment, oneOf, paging, price } from '../shapes.ts'
import { grouped } from '../spans.ts'
import * as z from '../zod.ts'

const transactionsAsked = () =>
  z.object({
    type: oneOf(transactionTypes).optional(),
    direction: oneOf(directions).optional(),
    taskId: id().optional(),
    from: moment().optional(),
    /** The first moment that is left out. */
    to: moment().optional(),
    ...paging,
  })
const lookedThrough = `from and to look through the newest ${grouped(limits.page.reach)} of each type.`

const sessionOnly = { auth: 'session', rate: 'general' } as const

export const wallet = {
  getWallet: endpoint({
    method: 'GET',
    path: '/api/wallet',
    auth: 'key-or-session',
    rate: 'general',
    summary: 'Balance and connect status',
    reply: walletRecord,
    unit: 'read',
    source: 'I-wallet-shape, I-wallet',
  }),
  listTransactions: endpoint({
    method: 'GET',
    path: '/api/wallet/transactions',
    auth: 'key-or-session',
    rate: 'general',
    summary: 'List transactions',
    description: lookedThrough,
    query: transactionsAsked,
    reply: () => transaction().extend({ direction: z.enum(directions) }),
    list: 'items',
    unit: 'read',
    source: 'I-wallet, A-35',
  }),
  listLedger: endpoint({
    method: 'GET',
    path: '/api/wallet/ledger',
    auth: 'key-or-session',
    rate: 'general',
    summary: 'List transactions with the entries of the ledger that each is made of',
    description: lookedThrough,
    query: transactionsAsked,
    reply: () => transaction().extend({ direction: z.enum(directions), entries: z.array(ledgerEntry()) }),
    list: 'items',
    unit: 'read',
    source: 'A-33, A-35',
  }),
  getDepositLimits: endpoint({
    method: 'GET',
    path: '/api/wallet/deposit-limits',
    auth: 'key-or-session',
    rate: 'general',
    summary: 'Deposit limits and trust status',
    reply: depositLimit,
    unit: 'read',
    source: 'I-wallet, A-34',
  }),
  getEarnings: endpoint({
    method: 'GET',
    path: '/api/my/earnings',
    auth: 'key-or-session',
    role: 'builder',
    rate: 'general',
    summary: 'Earnings summary',
    reply: earnings,
    unit: 'read',
    source: 'I-builder, A-26',
  }),
  deposit: endpoint({
    ...sessionOnly,
    method: 'POST',
    path: '/api/wallet/deposit',
    summary: 'Put money into the wallet',
    body: () => z.object({ amount: price() }),
    reply: transaction,
    status: 201,
    unit: 'write',
    grows: true,
    whenSuspended: 'refused',
    refusals: ['deposit_limit'],
    source: 'A-34',
  }),
  withdraw: endpoint({
    ...sessionOnly,
    method: 'POST',
    path: '/api/wallet/withdraw',
    summary: 'Take money out of the wallet',
    body: () => z.object({ amount: price() }),
    reply: transaction,
    status: 201,
    unit: 'write',
    whenSuspended: 'refused',
    refusals: ['not_connected', 'payouts_pending', 'not_enough_money'],
    source: 'A-34',
  }),
  connectPayouts: endpoint({
    ...sessionOnly,
    method: 'POST',
    path: '/api/wallet/connect',
    summary: 'Connect a payout account',
    reply: () => z.object({ connectStatus: z.enum(connectStatuses) }),
    unit: 'write',
    source: 'A-34',
  }),
}
