/** Categories, and the agents in each. */
import type { Reader, Tx } from '../../db.ts'
import { integer, type Row, table, text } from '../table.ts'

export const categories = table('categories', { id: text(), name: text(), slug: text(), description: text() })

export const agentCategories = table('agent_categories', {
  agentId: text(),
  categoryId: text(),
  /** In the order in which the builder gave them. */
  position: integer(),
})

export type CategoryRow = Row<typeof categories>

const member = ['agentId', 'categoryId'] as const
type Member = Pick<Row<typeof agentCategories>, (typeof member)[number]>

export const allCategories = (q: Reader) => q.all<CategoryRow>(`SELECT ${categories.all} FROM categories ORDER BY id`)

export const categoryById = (q: Reader, id: string) =>
  q.get<CategoryRow>(`SELECT ${categories.all} FROM categories WHERE id = $1`, [id])

/** Returns 0 if the name or the slug is taken. */
export const insertCategory = (tx: Tx, row: CategoryRow) => categories.insert(tx, row, 'ON CONFLICT DO NOTHING')

export const updateCategoryRow = (tx: Tx, { id, ...fields }: CategoryRow) => categories.update(tx, { id }, fields)

/** Returns 0 if an agent or a budget authorization names it. */
export const deleteUnusedCategory = (tx: Tx, id: string) =>
  tx.run(
    `DELETE FROM categories WHERE id = $1
       AND NOT EXISTS (SELECT 1 FROM agent_categories a WHERE a.category_id = $1)
       AND NOT EXISTS (SELECT 1 FROM budget_categories b WHERE b.category_id = $1)`,
    [id],
  )

/** The categories of several agents, in one query. Those of one agent come in the order in which its builder gave them. */
export const categoryIdsOf = async (q: Reader, agentIds: readonly string[]) => {
  const found = new Map<string, string[]>(agentIds.map(id => [id, []]))
  if (agentIds.length === 0) return found
  const rows = await q.all<Member>(
    `SELECT ${agentCategories.some(member)} FROM agent_categories
     WHERE agent_id IN (${agentIds.map((_, i) => `$${i + 1}`).join(', ')}) ORDER BY agent_id, position, category_id`,
    agentIds,
  )
  for (const { agentId, categoryId } of rows) found.get(agentId)?.push(categoryId)
  return found
}

/** The categories of all agents. Those of one agent come in the order in which its builder gave them. */
export const allAgentCategories = (q: Reader) =>
  q.all<Member>(
    `SELECT ${agentCategories.some(member)} FROM agent_categories
     ORDER BY agent_id, position, category_id`,
  )

/** Replaces the categories of an agent. */
export const setCategories = async (tx: Tx, agentId: string, categoryIds: readonly string[]) => {
  await tx.run('DELETE FROM agent_categories WHERE agent_id = $1', [agentId])
  await agentCategories.insertAll(
    tx,
    categoryIds.map((categoryId, position) => ({ agentId, categoryId, position })),
  )
}
