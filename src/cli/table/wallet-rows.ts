/** The commands of one's own money, an endpoint each. Source: A-34. */

import type { CommandRecord } from '../command-line/command.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { endpointCommand } from '../endpoint/command.ts'
import { type EndpointRow, type FieldFlag, pageFlags } from '../endpoint/row.ts'

const WALLET = ['wallet.balance', 'wallet.heldBalance', 'connectStatus']
const TRANSACTION = ['id', 'type', 'amount', 'status', 'taskId', 'createdAt']

const holder = { person: 'buyer' } as const

const transactionFlags: readonly FieldFlag[] = [
  ['--type <type>', 'deposit, withdrawal, hold, refund, release or earning (default: all)', 'type'],
  ['--direction <direction>', 'in, out or held (default: all)', 'direction'],
  ['--task <id>', 'only those of this task', 'taskId'],
  ['--from <time>', 'only those from then on, as 2030-01-31T12:00:00Z', 'from'],
  ['--to <time>', 'only those before then', 'to'],
  ...pageFlags,
]

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
    flags: transactionFlags,
    things: 'transactions',
    first: () => `How to put money in: ${nextSteps.helpOf('wallet deposit')}`,
    shows: TRANSACTION,
    examples: ['marketplace wallet transactions', 'marketplace wallet transactions --type deposit --json'],
  },
  {
    ...holder,
    name: 'wallet ledger',
    endpoint: 'listLedger',
    summary: 'What came and went, with the entries of the ledger',
    flags: transactionFlags,
    things: 'transactions',
    first: () => `How to put money in: ${nextSteps.helpOf('wallet deposit')}`,
    shows: [...TRANSACTION, 'direction', 'entries'],
    examples: ['marketplace wallet ledger', 'marketplace wallet ledger --task TASK_ID --json'],
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
    shows: ['totalEarned', 'clearing', 'available', 'held', 'inDispute', 'completedTasks', 'byAgent'],
    examples: ['marketplace wallet earnings', 'marketplace wallet earnings --json'],
  },
  {
    ...holder,
    name: 'wallet deposit',
    endpoint: 'deposit',
    takes: [['amount', 'amount']],
    summary: 'Put money in, like 50.00; needs a session',
    shows: TRANSACTION,
    notes: 'Where payments are handled by hand it waits until an administrator confirms that the money has come.',
    examples: ['marketplace wallet deposit 50.00', 'marketplace wallet deposit 50.00 --json'],
  },
  {
    ...holder,
    name: 'wallet withdraw',
    endpoint: 'withdraw',
    takes: [['amount', 'amount']],
    summary: 'Take money out; needs a session and a payout account',
    shows: TRANSACTION,
    examples: ['marketplace wallet withdraw 50.00', 'marketplace wallet withdraw 50.00 --json'],
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

const BUDGET = ['id', 'agentId', 'status', 'maxPerTask', 'maxDaily', 'maxMonthly', 'spentToday', 'spentThisMonth']
const FACTS = [...BUDGET, 'allowedCategories', 'createdAt']

const owner = { person: 'buyer' } as const
const one = { takes: [['budget-id', 'id']] } as const

const budgetFields: readonly FieldFlag[] = [
  ['--agent <agent>', 'who may spend, by id or slug', 'agentId', 'agent'],
  ['--max-per-task <amount>', 'for one task, like 5.00', 'maxPerTask'],
  ['--max-daily <amount>', 'in a day', 'maxDaily'],
  ['--max-monthly <amount>', 'in a month', 'maxMonthly'],
  ['--category <name...>', 'agents of these alone, by name, slug or id', 'allowedCategories', 'categories'],
  ['--any-category', 'agents of all categories', { allowedCategories: null }],
]

export const budgetRows: readonly EndpointRow[] = [
  {
    ...owner,
    name: 'budgets list',
    endpoint: 'listBudgets',
    summary: 'What you let agents spend',
    flags: [['--role <role>', 'owner, or agent: what your agents were granted (default: owner)', 'role'], ...pageFlags],
    things: 'authorizations',
    first: () => `How to make one: ${nextSteps.helpOf('budgets create')}`,
    shows: BUDGET,
    examples: ['marketplace budgets list', 'marketplace budgets list --role agent --as builder --json'],
  },
  {
    ...owner,
    ...one,
    name: 'budgets show',
    endpoint: 'getBudget',
    summary: 'One authorization',
    shows: FACTS,
    examples: ['marketplace budgets show BUDGET_ID', 'marketplace budgets show BUDGET_ID --json'],
  },
  {
    ...owner,
    name: 'budgets create',
    endpoint: 'createBudget',
    summary: 'Let an agent hire others with your money, within limits',
    flags: budgetFields,
    file: true,
    shows: FACTS,
    examples: [
      'marketplace budgets create --agent my-agent --max-per-task 5.00 --max-daily 20.00 --max-monthly 100.00',
      'marketplace budgets create --file budget.json --json',
    ],
  },
  {
    ...owner,
    ...one,
    name: 'budgets update',
    endpoint: 'updateBudget',
    summary: 'Change the limits',
    flags: budgetFields,
    file: true,
    shows: FACTS,
    examples: [
      'marketplace budgets update BUDGET_ID --max-daily 50.00',
      'marketplace budgets update BUDGET_ID --category translation --json',
    ],
  },
  {
    ...owner,
    ...one,
    name: 'budgets pause',
    endpoint: 'pauseBudget',
    summary: 'Let nothing be spent for now',
    shows: FACTS,
    examples: ['marketplace budgets pause BUDGET_ID', 'marketplace budgets pause BUDGET_ID --json'],
  },
  {
    ...owner,
    ...one,
    name: 'budgets resume',
    endpoint: 'resumeBudget',
    summary: 'Let it be spent again',
    shows: FACTS,
    examples: ['marketplace budgets resume BUDGET_ID', 'marketplace budgets resume BUDGET_ID --json'],
  },
  {
    ...owner,
    ...one,
    name: 'budgets delete',
    endpoint: 'deleteBudget',
    summary: 'Delete an authorization that has no active tasks',
    confirms: 'deletes the authorization for good',
    shows: ['id'],
    examples: ['marketplace budgets delete BUDGET_ID', 'marketplace budgets delete BUDGET_ID --yes --json'],
  },
]

/** Commands about money: one's own, and what agents may spend of it. */
export const money: readonly CommandRecord[] = [...walletRows, ...budgetRows].map(endpointCommand)
