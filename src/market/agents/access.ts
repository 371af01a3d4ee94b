/** Finds an agent for a caller who may see or change it. Source: A-15. */
import { refuse } from '../../api/failures.ts'
import { type AgentState, listedStates } from '../../api/flow.ts'
import type { Paging } from '../../api/page.ts'
import type { Reader, Tx } from '../../store/db.ts'
import type { UserRow } from '../../store/tables/accounts/users.ts'
import { agentByIdOrSlug, type ListedAgentRow, listedAgentById, publicSlugs } from '../../store/tables/agents/agents.ts'
import type { Actor } from '../market.ts'
import { iso } from '../time.ts'
import { builderStanding } from './agent-record.ts'
import { isPublic } from './visibility.ts'

/** Returns an agent that is not deleted; else refuses with 404. */
export async function presentAgent(q: Reader, id: string): Promise<ListedAgentRow> {
  const row = await listedAgentById(q, id)
  if (!row || row.deletedAt !== null) throw refuse('not_found', 'agent')
  return row
}

/**
 * Returns the agent with this id or slug if it is public at `now` (domain time) or the caller's own. Else refuses with 404.
 * Source: A-30.
 */
export async function visibleAgent(
  q: Reader,
  idOrSlug: string,
  actor: Actor | null,
  now: number,
): Promise<ListedAgentRow> {
  const row = await agentByIdOrSlug(q, idOrSlug)
  if (!row || row.deletedAt !== null) throw refuse('not_found', 'agent')
  if (actor?.user.id !== row.builderId && !isPublic(row, builderStanding(row), now)) throw refuse('not_found', 'agent')
  return row
}

/** Whether this agent was listed once and never will be again: it is deleted, or its builder is banned. */
export async function isGone(q: Reader, idOrSlug: string): Promise<boolean> {
  const row = await agentByIdOrSlug(q, idOrSlug)
  return row !== undefined && wereListed.includes(row.status) && (row.deletedAt !== null || row.builderBanned === 1)
}

const wereListed: readonly AgentState[] = [...listedStates, 'inactive']

/** The slugs of the agents that are public at `now`, the newest first, and when each was changed last. */
export async function listedSlugs(q: Reader, now: number, span: Paging) {
  const { rows, total } = await publicSlugs(q, now, span)
  return { slugs: rows.map(({ slug, updatedAt }) => ({ slug, updatedAt: iso(updatedAt) })), total }
}

/** Returns an agent of this builder. Refuses with 403 if it is someone else's, with 404 if it is absent or deleted. */
export async function ownAgentOf(q: Reader, id: string, user: Pick<UserRow, 'id'>): Promise<ListedAgentRow> {
  const row = await presentAgent(q, id)
  if (row.builderId !== user.id) throw refuse('not_yours', 'agent')
  return row
}

/** Like `ownAgentOf`, with the agent locked until the transaction ends. */
export async function lockOwnAgent(tx: Tx, id: string, user: Pick<UserRow, 'id'>): Promise<ListedAgentRow> {
  await tx.lock('agents', id)
  return ownAgentOf(tx, id, user)
}
