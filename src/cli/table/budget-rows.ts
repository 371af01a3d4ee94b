/** The commands of budget authorizations: what an agent may spend from a wallet. Source: A-36. */
import { nextSteps } from '../connection/next-steps.ts'
import type { EndpointRow, FieldFlag } from '../endpoint/row.ts'
import { pageFlags } from './page-flags.ts'

const BUDGET = ['id', 'agentId', 'status', 'maxPerTask', 'maxDaily', 'maxMonthly', 'spentToday', 'spentThisMonth']
const FACTS = [...BUDGET, 'allowedCategories', 'createdAt']

const owner = { person: 'buyer' } as const
const one = { takes: [['budget-id', 'id']] } as const

const budgetFields: readonly FieldFlag[] = [
  ['--agent <agent>', 'who may spend, by id or slug', 'agentId', 'agent'],
  ['--max-per-task <cents>', 'for one task; 5.00 is 500', 'maxPerTask'],
  ['--max-daily <cents>', 'in a day', 'maxDaily'],
  ['--max-monthly <cents>', 'in a month', 'maxMonthly'],
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
