/** Budget authorizations: what an agent may spend from a wallet. Source: I-budget-input, I-budgets, A-36. */

import { endpoint } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { budgetAuthorization } from '../money-records.ts'
import { deleted } from '../records.ts'
import { id, list, oneOf, paging, price } from '../shapes.ts'
import * as z from '../zod.ts'

/**
 * `owner`: what I granted; `agent`: what my agents were granted.
 * @internal Random steps of the tests choose among them.
 */
export const budgetRoles = ['owner', 'agent'] as const

const budgetInput = () =>
  z.object({
    agentId: id(),
    maxPerTask: price(),
    maxDaily: price(),
    maxMonthly: price(),
    allowedCategories: list(id(), limits.budgetCategories, 'categories (null means all)')
      .refine(ids => new Set(ids).size === ids.length, { error: 'must not name a category twice' })
      .nullable()
      .optional(),
  })

const open = { auth: 'key-or-session', rate: 'general' } as const
const found = ['not_found', 'not_yours'] as const

export const budgets = {
  listBudgets: endpoint({
    ...open,
    method: 'GET',
    path: '/api/budget-authorizations',
    summary: 'List own authorizations; role=agent: those that own agents were granted',
    query: () => z.object({ role: oneOf(budgetRoles).optional(), ...paging }),
    reply: budgetAuthorization,
    list: 'items',
    unit: 'read',
    source: 'I-budgets, A-36',
  }),
  createBudget: endpoint({
    ...open,
    method: 'POST',
    path: '/api/budget-authorizations',
    summary: 'Authorize an agent to spend from your wallet',
    body: budgetInput,
    reply: budgetAuthorization,
    status: 201,
    unit: 'write',
    grows: true,
    whenSuspended: 'refused',
    refusals: ['not_found', 'duplicate'],
    source: 'I-budget-input, I-budgets, A-36',
  }),
  getBudget: endpoint({
    ...open,
    method: 'GET',
    path: '/api/budget-authorizations/:id',
    summary: 'Details of an authorization',
    reply: budgetAuthorization,
    unit: 'read',
    refusals: found,
    source: 'I-budgets, A-36',
  }),
  updateBudget: endpoint({
    ...open,
    method: 'PUT',
    path: '/api/budget-authorizations/:id',
    summary: 'Update the limits of an authorization',
    body: () => budgetInput().partial(),
    reply: budgetAuthorization,
    unit: 'write',
    refusals: found,
    source: 'I-budget-input, I-budgets, A-36',
  }),
  deleteBudget: endpoint({
    ...open,
    method: 'DELETE',
    path: '/api/budget-authorizations/:id',
    summary: 'Delete an authorization that has no active tasks',
    reply: deleted,
    unit: 'write',
    refusals: [...found, 'open_work'],
    source: 'I-budgets, I-open-work, A-36',
  }),
  pauseBudget: endpoint({
    ...open,
    method: 'POST',
    path: '/api/budget-authorizations/:id/pause',
    summary: 'Pause an authorization',
    reply: budgetAuthorization,
    unit: 'write',
    refusals: [...found, 'budget_out_of_turn'],
    source: 'I-budgets, A-36',
  }),
  resumeBudget: endpoint({
    ...open,
    method: 'POST',
    path: '/api/budget-authorizations/:id/resume',
    summary: 'Resume a paused authorization',
    reply: budgetAuthorization,
    unit: 'write',
    refusals: [...found, 'budget_out_of_turn'],
    source: 'I-budgets, A-36',
  }),
}
