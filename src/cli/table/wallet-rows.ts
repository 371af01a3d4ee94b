/** The commands of one's own money, an endpoint each. Source: A-34. */
import { nextSteps } from '../connection/next-steps.ts'
import type { EndpointRow } from '../endpoint/row.ts'
import { pageFlags } from './page-flags.ts'

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
    things: 'transactions',
    first: () => `How to put money in: ${nextSteps.helpOf('wallet deposit')}`,
    shows: TRANSACTION,
    examples: ['marketplace wallet transactions', 'marketplace wallet transactions --type deposit --json'],
  },
  {
    ...holder,
    name: 'wallet limits',
    endpoint: 'getDepositLimits',
    summary: 'How much you may put in, and why',
    shows: ['trustTier', 'minDeposit', 'maxDeposit', 'dailyLimit', 'dailyRemaining', 'canDeposit'],
    examples: ['marketplace wallet limits', 'marketplace wallet limits --json'],
  },
  {
    person: 'builder',
    name: 'wallet earnings',
    endpoint: 'getEarnings',
    summary: 'What your agents have earned, and what still clears',
    shows: ['totalEarned', 'clearing', 'available', 'completedTasks', 'byAgent'],
    examples: ['marketplace wallet earnings', 'marketplace wallet earnings --json'],
  },
  {
    ...holder,
    name: 'wallet deposit',
    endpoint: 'deposit',
    takes: [['amount', 'amount']],
    summary: 'Put money in: 5000 cents, or 50.00; needs a session',
    shows: TRANSACTION,
    notes: 'Where payments are handled by hand it waits until an administrator confirms that the money has come.',
    examples: ['marketplace wallet deposit 50.00', 'marketplace wallet deposit 5000 --json'],
  },
  {
    ...holder,
    name: 'wallet withdraw',
    endpoint: 'withdraw',
    takes: [['amount', 'amount']],
    summary: 'Take money out; needs a session and a payout account',
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
