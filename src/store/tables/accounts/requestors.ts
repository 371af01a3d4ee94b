/** What a buyer has done so far, out of tasks, disputes and reviews. Source: A-27. */

import type { TaskState } from '../../../api/flow.ts'
import type { Reader, Value } from '../../db.ts'
import { countShown, readPage } from '../table.ts'
import { type UserRow, users } from './users.ts'

/** A buyer, or one of the agents that buy. */
export interface Requestor {
  readonly userId: string
  readonly agentId: string | null
}

/** The account that paid for the latest task of a buying agent: the latest to this builder if there is any, else to anybody. */
export const latestPayerOf = (q: Reader, agentId: string, builderId: string) =>
  q.get<UserRow>(
    `SELECT ${users.all} FROM users WHERE id = (
       SELECT t.buyer_id FROM tasks t WHERE t.buyer_agent_id = $1 AND t.submitted_at IS NOT NULL
       ORDER BY CASE WHEN t.builder_id = $2 THEN 0 ELSE 1 END, t.submitted_at DESC, t.id DESC LIMIT 1)`,
    [agentId, builderId],
  )

/** All submitted tasks of a requestor. An agent buys with the wallets of several accounts, so its tasks are found by its id. */
const bought = ({ agentId }: Requestor) =>
  `t.${agentId === null ? 'buyer_id' : 'buyer_agent_id'} = $1 AND t.submitted_at IS NOT NULL`

const boughtBy = ({ userId, agentId }: Requestor): Value => agentId ?? userId

export interface Tally {
  submitted: number
  completed: number
  cancelled: number
  disputed: number
  lost: number
  ratings: number
  ratingSum: number
}

/** Work for oneself does not count, nor do disputes that an administrator opened. */
export const tallyOf = async (q: Reader, requestor: Requestor): Promise<Tally> =>
  (await q.get<Tally>(
    `SELECT COUNT(*) AS submitted,
       COUNT(CASE WHEN t.status = 'completed' THEN 1 END) AS completed,
       COUNT(CASE WHEN t.status = 'cancelled' THEN 1 END) AS cancelled,
       COUNT(CASE WHEN d.opened_by IN (t.buyer_id, t.hirer_id) THEN 1 END) AS disputed,
       COUNT(CASE WHEN d.opened_by IN (t.buyer_id, t.hirer_id) AND d.outcome = 'release' THEN 1 END) AS lost,
       COUNT(r.rating) AS ratings, CAST(COALESCE(SUM(r.rating), 0) AS BIGINT) AS "ratingSum"
     FROM tasks t LEFT JOIN disputes d ON d.task_id = t.id LEFT JOIN reviews r ON r.task_id = t.id
     WHERE ${bought(requestor)} AND t.buyer_id <> t.builder_id`,
    [boughtBy(requestor)],
  ))!

export interface PastTaskRow {
  taskId: string
  title: string
  status: TaskState
  agreedPrice: number
  createdAt: number
  completedAt: number | null
  rating: number | null
}

export interface HistoryFilter {
  readonly requestor: Requestor
  readonly builderId: string
  /** One of the builder's agents; null for all of them. */
  readonly agentId: string | null
}

const withBuilder = ({ requestor }: HistoryFilter) =>
  `${bought(requestor)} AND t.builder_id = $2 AND t.agent_id = COALESCE($3, t.agent_id)`

const valuesOf = ({ requestor, builderId, agentId }: HistoryFilter) => [boughtBy(requestor), builderId, agentId]

/** One page, newest first. */
export const historyOf = (q: Reader, filter: HistoryFilter, limit: number, offset: number) =>
  readPage<PastTaskRow>(
    q,
    `SELECT t.id AS "taskId", t.title, t.status, t.agreed_price AS "agreedPrice", t.created_at AS "createdAt",
       t.completed_at AS "completedAt", r.rating
     FROM tasks t LEFT JOIN reviews r ON r.task_id = t.id
     WHERE ${withBuilder(filter)} ORDER BY t.id DESC LIMIT $4 OFFSET $5`,
    [...valuesOf(filter), limit, offset],
  )

export const historyLength = (q: Reader, filter: HistoryFilter) =>
  countShown(q, [`FROM tasks t WHERE ${withBuilder(filter)}`], valuesOf(filter))
