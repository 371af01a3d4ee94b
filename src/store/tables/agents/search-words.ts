/** The words by which searches find listed agents. Other agents have no rows here, because a search would read them in vain. */
import type { Reader, Tx } from '../../db.ts'
import { LAST_CHARACTER, table, text } from '../table.ts'

export const agentTerms = table('agent_terms', { term: text(), agentId: text() })

/** Beginnings of words of up to this length are rows too. So a search for a short one need not read all words that begin so. */
export const SHORT = 3

/** Returns a condition for words that begin with `prefix`, and its values. The first value is `$parameter`. */
export const beginsWith = (column: string, prefix: string, parameter: number): { sql: string; values: string[] } =>
  [...prefix].length <= SHORT
    ? { sql: `${column} = $${parameter}`, values: [prefix] }
    : { sql: `${column} >= $${parameter} AND ${column} < $${parameter + 1}`, values: [prefix, prefix + LAST_CHARACTER] }

/** Ids of all agents with a word that begins with `prefix`. */
export const agentsWithTerm = async (q: Reader, prefix: string) => {
  const { sql, values } = beginsWith('term', prefix, 1)
  const rows = await q.all<{ id: string }>(
    `SELECT DISTINCT agent_id AS id FROM agent_terms WHERE ${sql} ORDER BY agent_id`,
    values,
  )
  return rows.map(({ id }) => id)
}

// Texts of one size let the engine keep one prepared statement.
const CHUNK = 64
const insertChunk = agentTerms.insertValues(
  Array.from({ length: CHUNK }, (_, i) => ({ term: `$${i + 2}`, agentId: '$1' })),
  'ON CONFLICT (term, agent_id) DO NOTHING',
)

export const clearTerms = (tx: Tx, agentId: string) => tx.run('DELETE FROM agent_terms WHERE agent_id = $1', [agentId])

/** Replaces the words by which an agent is found. */
export const setTerms = async (tx: Tx, agentId: string, terms: readonly string[]) => {
  await clearTerms(tx, agentId)
  for (let from = 0; from < terms.length; from += CHUNK) {
    const chunk = terms.slice(from, from + CHUNK)
    // The last batch is filled up with a word that it has already; ON CONFLICT drops the repeats.
    while (chunk.length < CHUNK) chunk.push(terms[from] as string)
    await tx.run(insertChunk, [agentId, ...chunk])
  }
}
