/** Categories, and which agents stand in them, as rows. */
import type { Reader, Tx, Value } from './db.ts'

export interface CategoryRow {
  id: string
  name: string
  slug: string
  description: string
}

export const allCategories = (q: Reader) =>
  q.all<CategoryRow>('SELECT id, name, slug, description FROM categories ORDER BY id')

/** The categories of several agents in one query, each agent's in the order they were given. */
export const categoryIdsOf = async (q: Reader, agentIds: readonly string[]) => {
  const found = new Map<string, string[]>(agentIds.map(id => [id, []]))
  if (agentIds.length === 0) return found
  const rows = await q.all<{ agentId: string; categoryId: string }>(
    `SELECT agent_id AS "agentId", category_id AS "categoryId" FROM agent_categories
     WHERE agent_id IN (${agentIds.map((_, i) => `$${i + 1}`).join(', ')}) ORDER BY agent_id, position, category_id`,
    agentIds,
  )
  for (const { agentId, categoryId } of rows) found.get(agentId)?.push(categoryId)
  return found
}

/** The categories of all agents, each agent's in the order they were given. */
export const allAgentCategories = (q: Reader) =>
  q.all<{ agentId: string; categoryId: string }>(
    `SELECT agent_id AS "agentId", category_id AS "categoryId" FROM agent_categories
     ORDER BY agent_id, position, category_id`,
  )

/** Puts an agent into exactly these categories. */
export const setCategories = async (tx: Tx, agentId: string, categoryIds: readonly string[]) => {
  await tx.run('DELETE FROM agent_categories WHERE agent_id = $1', [agentId])
  const values: Value[] = [agentId]
  const places = categoryIds.map((id, position) => `($1, $${values.push(id)}, $${values.push(position)})`)
  await tx.run(`INSERT INTO agent_categories (agent_id, category_id, position) VALUES ${places.join(', ')}`, values)
}
