/** The words that agents are found by, as rows. */
import type { Tx } from './db.ts'

// Texts of one size let the engine keep one prepared statement.
const CHUNK = 64

/** Makes `terms` all the words that an agent is found by. */
export const setTerms = async (tx: Tx, agentId: string, terms: readonly string[]) => {
  await tx.run('DELETE FROM agent_terms WHERE agent_id = $1', [agentId])
  for (let from = 0; from < terms.length; from += CHUNK) {
    const chunk = terms.slice(from, from + CHUNK)
    // Filled up with a word that is there already, which the conflict rule drops.
    while (chunk.length < CHUNK) chunk.push(terms[from] as string)
    const places = chunk.map((_, i) => `($${i + 2}, $1)`).join(', ')
    await tx.run(`INSERT INTO agent_terms (term, agent_id) VALUES ${places} ON CONFLICT (term, agent_id) DO NOTHING`, [
      agentId,
      ...chunk,
    ])
  }
}
