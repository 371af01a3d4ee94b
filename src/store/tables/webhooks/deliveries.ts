/** The log of webhooks, read by the builders whose agents they went to. Source: A-28. */

import type { Reader, Tx } from '../../db.ts'
import { countShown, type Row, readPage } from '../table.ts'
import { type AttemptRow, attempts, deliveries, withBody } from './outbox.ts'

const told = ['id', 'agentId', 'taskId', 'event', 'state', 'redeliveryOf', 'nextAt', 'createdAt', 'endedAt'] as const
export type LoggedDeliveryRow = Pick<Row<typeof deliveries>, (typeof told)[number] | 'attempts' | 'body'>

// A lease counts the attempt that it is held for, of which nothing is known yet.
const logged = `${deliveries.some(told)},
  CASE WHEN leased_until > 0 THEN attempts - 1 ELSE attempts END AS attempts`

/** One page of an agent's deliveries, newest first. */
export const deliveriesOf = (q: Reader, agentId: string, limit: number, offset: number) =>
  readPage<Omit<LoggedDeliveryRow, 'body'>>(
    q,
    `SELECT ${logged} FROM deliveries WHERE agent_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`,
    [agentId, limit, offset],
  )

export const countDeliveries = (q: Reader, agentId: string) =>
  countShown(q, ['FROM deliveries WHERE agent_id = $1'], [agentId])

/** Undefined if it went to another agent. */
export const deliveryOf = async (q: Reader, agentId: string, id: string) => {
  const sql = `SELECT ${logged}, body FROM deliveries WHERE agent_id = $1 AND id = $2`
  const found = await q.get<LoggedDeliveryRow>(sql, [agentId, id])
  return found && withBody(found)
}

const made = ['attempt', 'url', 'status', 'reason', 'message', 'answer', 'durationMs', 'createdAt'] as const
type MadeAttempt = Pick<AttemptRow, (typeof made)[number]>

/** All attempts at one delivery, in order. */
export const attemptsAt = (q: Reader, deliveryId: string) =>
  q.all<MadeAttempt>(`SELECT ${attempts.some(made)} FROM attempts WHERE delivery_id = $1 ORDER BY attempt`, [
    deliveryId,
  ])

/** Makes all deliveries of one agent that wait for their next attempt due now. */
export const hurryAgent = (tx: Tx, agentId: string, now: number) =>
  tx.run(`UPDATE deliveries SET next_at = $2 WHERE agent_id = $1 AND state = 'pending' AND next_at > $2`, [
    agentId,
    now,
  ])

export const markRedelivery = (tx: Tx, id: string, of: string) => deliveries.update(tx, { id }, { redeliveryOf: of })

/** Makes the first open delivery of a task's queue due now, if it waits for its next attempt. */
export const hurry = (tx: Tx, taskId: string, agentId: string, now: number) =>
  tx.run(
    `UPDATE deliveries SET next_at = $3 WHERE task_id = $1 AND agent_id = $2 AND state = 'pending' AND ended_at IS NULL
       AND next_at > $3`,
    [taskId, agentId, now],
  )
