/** Agents that hire agents: who buys under a budget authorization, and what it allows. Source. */
import { refuse } from '../../api/failures.ts'
import { durations } from '../../api/limits.ts'
import type { Reader } from '../../store/db.ts'
import { userById } from '../../store/tables/accounts/users.ts'
import { categoryIdsOf } from '../../store/tables/agents/categories.ts'
import { allowedCategoriesOf, type BudgetRow, budgetById, type Since } from '../../store/tables/money/budgets.ts'
import type { TaskRow } from '../../store/tables/tasks/tasks.ts'
import type { Acting, Ctx } from '../market.ts'

export type Buyer = Pick<TaskRow, 'buyerId' | 'buyerAgentId' | 'hirerId' | 'budgetAuthorizationId'>

/** Returns the beginnings of the UTC day and month, in domain ms. */
export function sinceOf(now: number): Since {
  const date = new Date(now)
  return { day: now - (now % durations.dayMs), month: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) }
}

/** Returns who buys: the caller, or the agent that the authorization names, with its owner's money. */
export async function buyerOf({ tx, world, actor }: Acting<Ctx>, authorizationId: string | null): Promise<Buyer> {
  const { id } = actor.user
  if (authorizationId === null) return { buyerId: id, buyerAgentId: null, hirerId: null, budgetAuthorizationId: null }
  const budget = await budgetById(tx, authorizationId, sinceOf(world.now()))
  if (!budget) throw refuse('not_found', 'budget authorization')
  if (budget.builderId !== id) throw refuse('hirer_only')
  await checkStanding(tx, budget)
  return { buyerId: budget.ownerId, buyerAgentId: budget.agentId, hirerId: id, budgetAuthorizationId: budget.id }
}

/** Refuses a builder who would hire their own agent with somebody else's money. */
export function checkSeller({ buyerId, hirerId }: Pick<Buyer, 'buyerId' | 'hirerId'>, sellerId: string): void {
  if (hirerId !== null && hirerId !== buyerId && hirerId === sellerId) throw refuse('own_agent_hired')
}

async function checkStanding(q: Reader, { ownerId, agentDeletedAt }: BudgetRow): Promise<void> {
  if (agentDeletedAt !== null) throw refuse('budget_unusable', 'names an agent that is deleted')
  const payer = await userById(q, ownerId)
  if (!payer || payer.suspended || payer.banned) throw refuse('payer_suspended')
}

/**
 * Refuses a submission that its budget authorization does not allow. The authorization stays locked until the transaction
 * ends, so the spending that is counted here is still right when the hold commits.
 */
export async function checkBudget({ tx, world }: Ctx, task: TaskRow): Promise<void> {
  if (task.budgetAuthorizationId === null) return
  await tx.lock('budget_authorizations', task.budgetAuthorizationId)
  const budget = await budgetById(tx, task.budgetAuthorizationId, sinceOf(world.now()))
  if (!budget) throw refuse('budget_unusable', 'of this task is deleted')
  await checkStanding(tx, budget)
  checkSeller(task, task.builderId)
  if (budget.status === 'paused') throw refuse('budget_unusable', 'is paused')
  await checkCategory(tx, budget.id, task.agentId)
  checkCaps(budget, task.agreedPrice)
}

async function checkCategory(q: Reader, id: string, agentId: string): Promise<void> {
  const allowed = (await allowedCategoriesOf(q, [id])).get(id)
  const those = (await categoryIdsOf(q, [agentId])).get(agentId) ?? []
  if (!allowed || those.some(category => allowed.includes(category))) return
  throw refuse('budget_unusable', `allows the categories ${allowed.join(', ')}; the agent is in ${those.join(', ')}`)
}

function checkCaps(budget: BudgetRow, price: number): void {
  const { maxPerTask, maxDaily, maxMonthly, spentToday, spentThisMonth } = budget
  if (price > maxPerTask) throw refuse('over_task_cap', maxPerTask, price)
  if (price > maxDaily - spentToday) throw refuse('over_period_cap', 'maxDaily', 'day', maxDaily, spentToday, price)
  if (price > maxMonthly - spentThisMonth)
    throw refuse('over_period_cap', 'maxMonthly', 'month', maxMonthly, spentThisMonth, price)
}
