/** Finding an agent for those who may have it. Source: A-15. */
import { refuse } from '../../api/failures.ts'
import type { Reader, Tx } from '../../store/db.ts'
import { agentByIdOrSlug, type ListedAgentRow, listedAgentById } from '../../store/tables/agents.ts'
import type { UserRow } from '../../store/tables/users.ts'
import type { Actor } from '../market.ts'
import { standingOf } from './agent-record.ts'
import { isPublic } from './visibility.ts'

/** An agent that is not deleted; else 404. */
export async function presentAgent(q: Reader, id: string): Promise<ListedAgentRow> {
  const row = await listedAgentById(q, id)
  if (!row || row.deletedAt !== null) throw refuse('not_found', 'agent')
  return row
}

/** By id or slug: an agent that is public at `now` (domain time), or the caller's own; else 404. Source: A-30. */
export async function seenAgent(
  q: Reader,
  idOrSlug: string,
  actor: Actor | null,
  now: number,
): Promise<ListedAgentRow> {
  const row = await agentByIdOrSlug(q, idOrSlug)
  if (!row || row.deletedAt !== null) throw refuse('not_found', 'agent')
  if (actor?.user.id !== row.builderId && !isPublic(row, standingOf(row), now)) throw refuse('not_found', 'agent')
  return row
}

/** An agent of this builder: someone else's → 403, absent or deleted → 404. */
export async function ownAgentOf(q: Reader, id: string, user: Pick<UserRow, 'id'>): Promise<ListedAgentRow> {
  const row = await presentAgent(q, id)
  if (row.builderId !== user.id) throw refuse('not_yours', 'agent')
  return row
}

/** As `ownAgentOf`, held against other writers until the transaction ends. */
export async function lockOwnAgent(tx: Tx, id: string, user: Pick<UserRow, 'id'>): Promise<ListedAgentRow> {
  await tx.lock('agents', id)
  return ownAgentOf(tx, id, user)
}
