/** Budget authorizations, and how much of each is spent. */
import type { BudgetStatus } from '../../../api/money-records.ts'
import type { Reader, Tx } from '../../db.ts'
import { bigint, integer, type Row, readPage, table, text } from '../table.ts'
import { sinceDay, spentSince } from '../tasks/work-sums.ts'

export const budgetAuthorizations = table('budget_authorizations', {
  id: text(),
  ownerId: text(),
  agentId: text(),
  maxPerTask: bigint(),
  maxDaily: bigint(),
  maxMonthly: bigint(),
  status: text<BudgetStatus>(),
  createdAt: bigint(),
  updatedAt: bigint(),
})

export const budgetCategories = table('budget_categories', {
  authorizationId: text(),
  categoryId: text(),
  /** In the order in which the owner gave them. */
  position: integer(),
})

type AuthorizationRow = Row<typeof budgetAuthorizations>

export interface BudgetRow extends AuthorizationRow {
  /** Of the agent. */
  builderId: string
  agentSlug: string
  agentName: string
  agentDeletedAt: number | null
  spentToday: number
  spentThisMonth: number
}

/** The beginning of the day and of the month in which spending is counted, in domain ms. */
export interface Since {
  readonly day: number
  readonly month: number
}

/** Refunds do not count as spent: a cancelled task costs nothing, a split one only the part that was not refunded. Source: A-36. */
const select = `SELECT ${budgetAuthorizations.as('b')}, a.builder_id AS "builderId", a.slug AS "agentSlug", a.name AS "agentName",
  a.deleted_at AS "agentDeletedAt",
  ${spentSince('b.id', '$1')} AS "spentToday", ${spentSince('b.id', '$2')} AS "spentThisMonth"
FROM budget_authorizations b JOIN agents a ON a.id = b.agent_id`

export const budgetById = (q: Reader, id: string, { day, month }: Since) =>
  q.get<BudgetRow>(`${select} WHERE b.id = $3`, [sinceDay(day), sinceDay(month), id])

const condition = {
  owner: 'b.owner_id = $3',
  agent: 'b.agent_id IN (SELECT g.id FROM agents g WHERE g.builder_id = $3)',
} as const
export type BudgetRole = keyof typeof condition

/** One page, oldest first. `owner`: what the user has granted. `agent`: what the user's agents were granted. */
export const budgetsOf = (
  q: Reader,
  role: BudgetRole,
  userId: string,
  { day, month }: Since,
  limit: number,
  offset: number,
) =>
  readPage<BudgetRow>(q, `${select} WHERE ${condition[role]} ORDER BY b.id LIMIT $4 OFFSET $5`, [
    sinceDay(day),
    sinceDay(month),
    userId,
    limit,
    offset,
  ])

export const countBudgetsOf = async (q: Reader, role: BudgetRole, userId: string) => {
  const where = condition[role].replace('$3', '$1')
  const sql = `SELECT COUNT(*) AS count FROM budget_authorizations b WHERE ${where}`
  return (await q.get<{ count: number }>(sql, [userId]))!.count
}

export type NewBudget = Omit<AuthorizationRow, 'updatedAt'>

/** Returns 0 if the owner has authorized this agent. */
export const insertBudget = (tx: Tx, row: NewBudget) =>
  budgetAuthorizations.insert(tx, { ...row, updatedAt: row.createdAt }, 'ON CONFLICT (owner_id, agent_id) DO NOTHING')

export const updateBudget = (
  tx: Tx,
  { id, ...fields }: Pick<AuthorizationRow, 'id' | 'maxPerTask' | 'maxDaily' | 'maxMonthly' | 'updatedAt'>,
) => budgetAuthorizations.update(tx, { id }, fields)

/** Returns 0 if it was in this state already. */
export const setBudgetStatus = (tx: Tx, id: string, status: BudgetRow['status'], now: number) =>
  tx.run('UPDATE budget_authorizations SET status = $2, updated_at = $3 WHERE id = $1 AND status <> $2', [
    id,
    status,
    now,
  ])

export async function deleteBudget(tx: Tx, id: string): Promise<void> {
  await tx.run('DELETE FROM budget_categories WHERE authorization_id = $1', [id])
  await tx.run('DELETE FROM budget_authorizations WHERE id = $1', [id])
}

/** How many tasks of the authorization have money in escrow or an open dispute. Source: A-36. */
export const countActive = async (q: Reader, id: string) => {
  const row = await q.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM tasks
     WHERE budget_authorization_id = $1 AND (status = 'pending' OR status = 'in_progress' OR status = 'delivered' OR disputed = 1)`,
    [id],
  )
  return row!.count
}

/** The categories to which each of these authorizations is limited, in the order given. One without categories is not limited. */
export const allowedCategoriesOf = async (q: Reader, ids: readonly string[]) => {
  const found = new Map<string, string[]>()
  if (ids.length === 0) return found
  const rows = await q.all<{ id: string; categoryId: string }>(
    `SELECT authorization_id AS id, category_id AS "categoryId" FROM budget_categories
     WHERE authorization_id IN (${ids.map((_, i) => `$${i + 1}`).join(', ')})
     ORDER BY authorization_id, position, category_id`,
    ids,
  )
  for (const { id, categoryId } of rows) found.set(id, [...(found.get(id) ?? []), categoryId])
  return found
}

/** Limits an authorization to these categories; null removes the limit. */
export const setAllowedCategories = async (tx: Tx, id: string, categoryIds: readonly string[] | null) => {
  await tx.run('DELETE FROM budget_categories WHERE authorization_id = $1', [id])
  if (categoryIds === null) return
  await budgetCategories.insertAll(
    tx,
    categoryIds.map((categoryId, position) => ({ authorizationId: id, categoryId, position })),
  )
}
