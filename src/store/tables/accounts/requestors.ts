/** Who buys, and what they bought of a builder. Source: A-27. */

import type { TaskState } from '../../../api/flow.ts'
import { limits } from '../../../api/limits.ts'
import type { Reader, Value } from '../../db.ts'
import { countShown, readPage, upTo } from '../table.ts'
import { type UserRow, users } from './users.ts'

/** A buyer, or one of the agents that buy. */
export interface Requestor {
  readonly userId: string
  readonly agentId: string | null
}

/** The account that paid for the latest task of a buying agent: the latest to this builder if there is any, else to anybody. */
export const latestPayerOf = (q: Reader, agentId: string, builderId: string) =>
  q.get<UserRow>(
    `SELECT ${users.all} FROM users WHERE id = COALESCE(${payerOf('AND t.builder_id = $2')}, ${payerOf('')})`,
    [agentId, builderId],
  )

const payerOf = (condition: string) =>
  `(SELECT t.buyer_id FROM tasks t WHERE t.buyer_agent_id = $1 AND t.submitted_at IS NOT NULL ${condition}
    ORDER BY t.id DESC LIMIT 1)`

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

/** An agent buys with the wallets of several accounts, so its tasks are found by its id. An index holds just these, and of one agent their newest are looked through. */
function bought({ requestor, builderId, agentId }: HistoryFilter) {
  const column = requestor.agentId === null ? 'buyer_id' : 'buyer_agent_id'
  const all = `FROM tasks t WHERE t.${column} = $1 AND t.builder_id = $2 AND t.submitted_at IS NOT NULL`
  const values = [boughtBy(requestor), builderId]
  if (agentId === null) return { from: all, values }
  const newest = `SELECT t.id, t.agent_id ${all} ORDER BY t.id DESC LIMIT ${limits.page.reach}`
  return { from: `FROM (${newest}) t WHERE t.agent_id = $3`, values: [...values, agentId] }
}

/** One page, newest first. */
export function historyOf(q: Reader, filter: HistoryFilter, limit: number, offset: number) {
  const { from, values } = bought(filter)
  const [most, before] = [1, 2].map(number => `$${values.length + number}`)
  const newest = `SELECT t.id ${from} ORDER BY t.id DESC LIMIT ${upTo(limit + offset)}`
  return readPage<PastTaskRow>(
    q,
    `SELECT t.id AS "taskId", t.title, t.status, t.agreed_price AS "agreedPrice", t.created_at AS "createdAt",
       t.completed_at AS "completedAt", r.rating
     FROM tasks t LEFT JOIN reviews r ON r.task_id = t.id
     WHERE t.id IN (SELECT id FROM (${newest}) newest ORDER BY id DESC LIMIT ${most} OFFSET ${before})
     ORDER BY t.id DESC`,
    [...values, limit, offset],
  )
}

export function historyLength(q: Reader, filter: HistoryFilter) {
  const { from, values } = bought(filter)
  return countShown(q, [from], values)
}
