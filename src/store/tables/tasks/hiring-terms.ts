/** What decides whether an agent may be hired, and on which terms. The row is short, because every submit reads it. */

import type { Reader, Tx } from '../../db.ts'
import { type UserRow, users } from '../accounts/users.ts'
import { type AgentRow, agents } from '../agents/agents.ts'

const ofAgent = [
  'id',
  'builderId',
  'maxRevisions',
  'status',
  'lastPassAt',
  'failedAt',
  'deletedAt',
  'webhookUrl',
  'secret',
] as const
const ofBuilder = ['suspended', 'banned'] as const

/** What decides whether an agent is public, from its own row and its builder's, and where its webhooks go. */
export type HiringTermsRow = Pick<AgentRow, (typeof ofAgent)[number]> & Pick<UserRow, (typeof ofBuilder)[number]>

const select = `SELECT ${agents.some(ofAgent, 'a')}, ${users.some(ofBuilder, 'u')}
     FROM agents a JOIN users u ON u.id = a.builder_id`

export const hiringTermsOf = (q: Reader, agentId: string) =>
  q.get<HiringTermsRow>(`${select} WHERE a.id = $1`, [agentId])

/**
 * The same for the agent of a task. The agent cannot be deleted until the transaction ends; all else may change, and comes after it. So those who hire
 * one agent do not wait for each other, nor for its tests and figures. The caller has locked the task.
 */
export const lockedHiringTerms = (tx: Tx, taskId: string) =>
  tx.get<HiringTermsRow>(
    `${select} WHERE a.id = (SELECT t.agent_id FROM tasks t WHERE t.id = $1) /*+ FOR KEY SHARE OF a */`,
    [taskId],
  )
