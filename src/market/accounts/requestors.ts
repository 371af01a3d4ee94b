/**
 * Requestors, who submit tasks: their reputation, and their past tasks with the calling builder's agents. Source:
 * I-requestors, A-27, A-47.
 */
import type { EventData } from '../../api/events.ts'
import { refuse } from '../../api/failures.ts'
import { rowsOf } from '../../api/page.ts'
import type { Reader } from '../../store/db.ts'
import { historyLength, historyOf, latestPayerOf, type Requestor } from '../../store/tables/accounts/requestors.ts'
import { type UserRow, userById } from '../../store/tables/accounts/users.ts'
import { totalOf } from '../../store/tables/table.ts'
import type { TaskRow } from '../../store/tables/tasks/tasks.ts'
import { buyerSumsOf } from '../../store/tables/tasks/work-sums.ts'
import { iso, isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'
import { trustTierOf } from './accounts.ts'

/**
 * Returns the requestor as webhooks name it: a buying agent by its own id, with its payer's trust tier. Source.
 */
export const requestorOf = (
  { buyerId, buyerAgentId }: Pick<TaskRow, 'buyerId' | 'buyerAgentId'>,
  payer: UserRow,
  now: number,
): EventData['requestor'] => {
  const { trustTier } = payerRecord(payer, now)
  return buyerAgentId === null
    ? { id: buyerId, type: 'user', trustTier }
    : { id: buyerAgentId, type: 'agent', trustTier }
}

/** What any builder may know of the payer. Source. */
const payerRecord = (payer: UserRow, now: number) => ({
  userId: payer.id,
  trustTier: trustTierOf(payer, now),
  memberSince: iso(payer.createdAt),
})

/**
 * Finds the requestor by the id in webhooks: a user's, or a buying agent's, which stands for the payer of its latest task.
 */
async function requestorNamed(q: Reader, id: string, builderId: string): Promise<Requestor & { payer: UserRow }> {
  const user = await userById(q, id)
  if (user) return { userId: id, agentId: null, payer: user }
  const payer = await latestPayerOf(q, id, builderId)
  if (!payer) throw refuse('not_found', 'requestor')
  return { userId: payer.id, agentId: id, payer }
}

const getReputation: Verb<'getReputation'> = async ({ tx, world, actor }, { params }) => {
  const requestor = await requestorNamed(tx, params.userId, actor.user.id)
  const { submitted, completed, cancelled, disputed, lost, ratings, stars } = await buyerSumsOf(
    tx,
    requestor.agentId ?? requestor.userId,
  )
  return {
    ...payerRecord(requestor.payer, world.now()),
    tasksSubmitted: submitted,
    tasksCompleted: completed,
    tasksCancelled: cancelled,
    disputesOpened: disputed,
    disputesLost: lost,
    averageRatingGiven: ratio(stars, ratings),
    // Of the tasks that have ended, because an open task says nothing about its buyer.
    completionRate: ratio(completed, completed + cancelled),
  }
}

/** Rounded to two decimals; null if `whole` is 0. */
const ratio = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 100) / 100)

const listHistory: Verb<'listHistory'> = async ({ tx, actor }, { params, query }) => {
  const requestor = await requestorNamed(tx, params.userId, actor.user.id)
  const filter = { requestor, builderId: actor.user.id, agentId: query.agentId ?? null }
  const span = rowsOf(query)
  const [rows, counted] = await Promise.all([historyOf(tx, filter, ...span), historyLength(tx, filter)])
  const items = rows.map(row => ({
    ...row,
    createdAt: iso(row.createdAt),
    completedAt: isoOrNull(row.completedAt),
  }))
  return { items, total: await totalOf(rows, span, counted) }
}

export const requestorVerbs = { getReputation, listHistory }
