/** Who buys, and what they bought of a builder. Source: A-27. */

import type { TaskState } from '../../../api/flow.ts'
import { limits } from '../../../api/limits.ts'
import type { Reader, Value } from '../../db.ts'
import { countShown, readPage } from '../table.ts'
import { type UserRow, users } from './users.ts'

/** A buyer, or one of the agents that buy. */
export interface Requestor {
  readonly userId: string
  readonly agentId: string | null
}

/** As many submitted tasks as a list shows, however many there are. */
const newestOf = (column: 'buyer_id' | 'buyer_agent_id') =>
  `(SELECT id, agent_id, buyer_id, builder_id, submitted_at FROM tasks
    WHERE ${column} = $1 AND submitted_at IS NOT NULL ORDER BY id DESC LIMIT ${limits.page.reach})`

/** The account that paid for the latest task of a buying agent: the latest to this builder if there is any, else to anybody. */
export const latestPayerOf = (q: Reader, agentId: string, builderId: string) =>
  q.get<UserRow>(
    `SELECT ${users.all} FROM users WHERE id = (
       SELECT t.buyer_id FROM ${newestOf('buyer_agent_id')} t
       ORDER BY CASE WHEN t.builder_id = $2 THEN 0 ELSE 1 END, t.submitted_at DESC, t.id DESC LIMIT 1)`,
    [agentId, builderId],
  )

/** An agent buys with the wallets of several accounts, so its tasks are found by its id. */
const bought = ({ agentId }: Requestor) => newestOf(agentId === null ? 'buyer_id' : 'buyer_agent_id')

const boughtBy = ({ userId, agentId }: Requestor): Value => agentId ?? userId

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

const withBuilder = 't.builder_id = $2 AND t.agent_id = COALESCE($3, t.agent_id)'

const valuesOf = ({ requestor, builderId, agentId }: HistoryFilter) => [boughtBy(requestor), builderId, agentId]

/** One page, newest first. */
export const historyOf = (q: Reader, filter: HistoryFilter, limit: number, offset: number) =>
  readPage<PastTaskRow>(
    q,
    `SELECT t.id AS "taskId", t.title, t.status, t.agreed_price AS "agreedPrice", t.created_at AS "createdAt",
       t.completed_at AS "completedAt", r.rating
     FROM tasks t LEFT JOIN reviews r ON r.task_id = t.id
     WHERE t.id IN (SELECT t.id FROM ${bought(filter.requestor)} t WHERE ${withBuilder} ORDER BY t.id DESC LIMIT $4 OFFSET $5)
     ORDER BY t.id DESC`,
    [...valuesOf(filter), limit, offset],
  )

export const historyLength = (q: Reader, filter: HistoryFilter) =>
  countShown(q, [`FROM ${bought(filter.requestor)} t WHERE ${withBuilder}`], valuesOf(filter))
