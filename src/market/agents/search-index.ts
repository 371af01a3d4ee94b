/** The search index: rows of words, written when an agent is listed and deleted when it no longer is. Source. */
import { listedStates } from '../../api/flow.ts'
import type { Db, Tx } from '../../store/db.ts'
import { type AgentRow, agentById, listedAgentIds } from '../../store/tables/agents.ts'
import { clearTerms, setTerms } from '../../store/tables/search-words.ts'
import { deleteSetting, settingNamed } from '../../store/tables/settings.ts'
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

/** While this setting exists, the index has to be rebuilt. The migration that empties the index writes it. */
const OUTDATED = 'search_index'

/** How many agents are indexed in one transaction. */
const AT_ONCE = 20

/** Rebuilds the index if a migration asks for it. Returns how many agents are in it; null if nothing was to do. */
export async function renewIndex(db: Db): Promise<number | null> {
  if ((await db.read(q => settingNamed(q, OUTDATED))) === undefined) return null
  let count = 0
  let after = ''
  for (;;) {
    const ids = await db.read(q => listedAgentIds(q, after, AT_ONCE))
    if (ids.length === 0) break
    await db.write(async tx => {
      for (const id of ids) {
        await tx.lock('agents', id)
        await indexAgent(tx, (await agentById(tx, id))!)
      }
    })
    count += ids.length
    after = ids.at(-1)!
  }
  await db.write(tx => deleteSetting(tx, OUTDATED))
  return count
}
