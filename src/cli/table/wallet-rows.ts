/** The commands of one's own money, an endpoint each. Source: A-34. */
import { limits } from '../../api/limits.ts'
import type { EndpointRow, FieldFlag } from '../endpoint-row.ts'

export const pageFlags: readonly FieldFlag[] = [
  ['--page <n>', 'from 1 on (default: 1)', 'page'],
  ['--limit <n>', `rows of a page (default: ${limits.page.default}, at most ${limits.page.max})`, 'limit'],
]

const WALLET = ['wallet.balance', 'wallet.heldBalance', 'wallet.currency', 'connectStatus']
const TRANSACTION = ['id', 'type', 'amount', 'status', 'taskId', 'createdAt']

const holder = { person: 'buyer' } as const

export const walletRows: readonly EndpointRow[] = [
  {
    ...holder,
    name: 'wallet show',
    endpoint: 'getWallet',
    summary: 'What you have, and what open tasks hold',
    shows: WALLET,
    examples: ['marketplace wallet show', 'marketplace wallet show --json'],
  },
  {
    ...holder,
    name: 'wallet transactions',
    endpoint: 'listTransactions',
    summary: 'What came and went',
    flags: [
      ['--type <type>', 'deposit, withdrawal, hold, refund, release or earning (default: all)', 'type'],
      ...pageFlags,
    ],
    shows: TRANSACTION,
    examples: ['marketplace wallet transactions', 'marketplace wallet transactions --type deposit --json'],
  },
  {
    ...holder,
    name: 'wallet deposit',
    endpoint: 'deposit',
    takes: ['cents', 'amount'],
    summary: 'Put money in, in cents: 5000 is 50.00; needs a session',
    shows: TRANSACTION,
    notes: 'Where payments are handled by hand it waits until an administrator confirms that the money has come.',
    examples: ['marketplace wallet deposit 5000', 'marketplace wallet deposit 5000 --json'],
  },
  {
    ...holder,
    name: 'wallet withdraw',
    endpoint: 'withdraw',
    takes: ['cents', 'amount'],
    summary: 'Take money out, in cents; needs a session and a connected payout account',
    shows: TRANSACTION,
    examples: ['marketplace wallet withdraw 5000', 'marketplace wallet withdraw 5000 --json'],
  },
  {
    ...holder,
    name: 'wallet connect',
    endpoint: 'connectPayouts',
    summary: 'Connect a payout account; needs a session',
    shows: ['connectStatus'],
    examples: ['marketplace wallet connect', 'marketplace wallet connect --json'],
  },
]
