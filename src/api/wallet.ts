/** Balance, transactions, deposits and withdrawals. Source: section 4 (wallet), D33–D35. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { connectStatuses, depositLimit, transaction, transactionTypes, wallet as walletRecord } from './records.ts'
import { oneOf, paging, price } from './shapes.ts'

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
    source: 'section 2, section 4',
  }),
  listTransactions: endpoint({
    method: 'GET',
    path: '/api/wallet/transactions',
    auth: 'key-or-session',
    rate: 'general',
    summary: 'List transactions',
    query: z.object({ type: oneOf(transactionTypes).optional(), ...paging }),
    reply: transaction,
    list: 'items',
    unit: 'read',
    source: 'section 4, D35',
  }),
  getDepositLimits: endpoint({
    method: 'GET',
    path: '/api/wallet/deposit-limits',
    auth: 'key-or-session',
    rate: 'general',
    summary: 'Deposit limits and trust status',
    reply: depositLimit,
    unit: 'read',
    source: 'section 4, D34',
  }),
  deposit: endpoint({
    ...sessionOnly,
    method: 'POST',
    path: '/api/wallet/deposit',
    summary: 'Put money into the wallet',
    body: z.object({ amount: price() }),
    reply: transaction,
    status: 201,
    unit: 'write',
    whenSuspended: 'refused',
    refusals: ['deposit_limit'],
    source: 'D34',
  }),
  withdraw: endpoint({
    ...sessionOnly,
    method: 'POST',
    path: '/api/wallet/withdraw',
    summary: 'Take money out of the wallet',
    body: z.object({ amount: price() }),
    reply: transaction,
    status: 201,
    unit: 'write',
    whenSuspended: 'refused',
    refusals: ['not_connected', 'not_enough_money'],
    source: 'D34',
  }),
  connectPayouts: endpoint({
    ...sessionOnly,
    method: 'POST',
    path: '/api/wallet/connect',
    summary: 'Connect a payout account',
    reply: z.object({ connectStatus: z.enum(connectStatuses) }),
    unit: 'write',
    source: 'D34',
  }),
}
