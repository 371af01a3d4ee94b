/** The search index: rows of words, written when an agent is listed and deleted when it no longer is. Source. */
import { listedStates } from '../../api/flow.ts'
import type { Tx } from '../../store/db.ts'
import type { AgentRow } from '../../store/tables/agents/agents.ts'
import { clearTerms, setTerms } from '../../store/tables/agents/search-words.ts'
import { terms } from './search-words.ts'

type Found = Pick<AgentRow, 'id' | 'status' | 'deletedAt' | 'name' | 'description'>

export const isListed = ({ status, deletedAt }: Pick<AgentRow, 'status' | 'deletedAt'>) =>
  deletedAt === null && (listedStates as readonly string[]).includes(status)

/**
 * Brings the index up to date. Call it in the transaction that changes a name, a description or a state, with the agent
 * locked.
 */
export async function indexAgent(tx: Tx, { id, name, description, ...state }: Found): Promise<void> {
  if (isListed(state)) await setTerms(tx, id, terms(name, description))
  else await clearTerms(tx, id)
}
