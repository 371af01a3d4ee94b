/** Who asks for work: a buyer's reputation, and their past with the agents of whoever asks. Source: section 4, D27. */
import { refuse } from '../api/failures.ts'
import { agentById } from '../store/agents.ts'
import type { Reader } from '../store/db.ts'
import { hasBought, historyLength, historyOf, type Requestor, tallyOf } from '../store/requestors.ts'
import { userById } from '../store/users.ts'
import { trustTierOf } from './accounts.ts'
import { iso, isoOrNull } from './time.ts'
import type { Verb } from './verb.ts'

/** By the id that webhooks name: a user's, or a buying agent's, which stands for its builder. */
async function requestorNamed(q: Reader, id: string): Promise<Requestor> {
  if (await userById(q, id)) return { userId: id, agentId: null }
  const agent = await agentById(q, id)
  if (!agent || !(await hasBought(q, id))) throw refuse('not_found', 'requestor')
  return { userId: agent.builderId, agentId: id }
}

const getReputation: Verb<'getReputation'> = async ({ tx, world }, { params }) => {
  const requestor = await requestorNamed(tx, params.userId)
  const user = (await userById(tx, requestor.userId))!
  const tally = await tallyOf(tx, requestor)
  const { submitted, completed, cancelled, disputed, lost, ratings, ratingSum } = tally
  return {
    userId: user.id,
    trustTier: trustTierOf(user, world.now()),
    memberSince: iso(user.createdAt),
    tasksSubmitted: submitted,
    tasksCompleted: completed,
    tasksCancelled: cancelled,
    disputesOpened: disputed,
    disputesLost: lost,
    averageRatingGiven: ratio(ratingSum, ratings),
    // Of the tasks that have ended: one that still runs says nothing of its buyer.
    completionRate: ratio(completed, completed + cancelled),
  }
}

/** To two places; null of nothing. */
const ratio = (part: number, whole: number) => (whole === 0 ? null : Math.round((part / whole) * 100) / 100)

const listHistory: Verb<'listHistory'> = async ({ tx, actor }, { params, query }) => {
  const requestor = await requestorNamed(tx, params.userId)
  const filter = { requestor, builderId: actor.user.id, agentId: query.agentId ?? null }
  const rows = await historyOf(tx, filter, query.limit, (query.page - 1) * query.limit)
  const items = rows.map(row => ({
    ...row,
    createdAt: iso(row.createdAt),
    completedAt: isoOrNull(row.completedAt),
  }))
  return { items, total: await historyLength(tx, filter) }
}

export const requestorVerbs = { getReputation, listHistory }
