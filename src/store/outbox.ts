/** Webhooks that wait to be sent, and the log of their attempts, as rows. One task's wait behind each other. Source: D37. */
import { columns, type Reader, type Tx } from './db.ts'

export interface DeliveryRow {
  id: string
  agentId: string
  taskId: string
  event: string
  body: string
  attempts: number
}

/** Joins the queue of its task: `pending` if nothing of that task is before it, else `waiting`. */
export const insertDelivery = (
  tx: Tx,
  row: Pick<DeliveryRow, 'id' | 'agentId' | 'taskId' | 'event' | 'body'> & { createdAt: number },
) =>
  tx.run(
    `INSERT INTO deliveries (id, agent_id, task_id, event, body, state, next_at, created_at)
     VALUES ($1, $2, $3, $4, $5,
       CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.task_id = $3 AND d.state IN ('pending', 'waiting'))
         THEN 'waiting' ELSE 'pending' END, $6, $6)`,
    [row.id, row.agentId, row.taskId, row.event, row.body, row.createdAt],
  )

export interface WaitingAgent {
  agentId: string
  webhookUrl: string | null
  secret: string | null
}

/** Agents with something to send, in the order of their ids: a skip scan, so that a long queue costs what a short one does. */
export const agentsWithDeliveries = (q: Reader) =>
  q.all<WaitingAgent>(
    `WITH RECURSIVE due (agent_id) AS (
       SELECT MIN(agent_id) FROM deliveries WHERE state = 'pending'
       UNION ALL
       SELECT (SELECT MIN(d.agent_id) FROM deliveries d WHERE d.state = 'pending' AND d.agent_id > due.agent_id)
       FROM due WHERE due.agent_id IS NOT NULL
     )
     SELECT a.id AS "agentId", a.webhook_url AS "webhookUrl", a.secret AS secret
     FROM due JOIN agents a ON a.id = due.agent_id ORDER BY a.id`,
  )

const deliveryColumns = columns('id', 'agentId', 'taskId', 'event', 'body', 'attempts')

/** Takes up to `count` due deliveries of one agent, each for the length of a lease, and counts the attempt. */
export const claimDeliveries = (
  tx: Tx,
  claim: { agentId: string; now: number; realNow: number; leasedUntil: number; count: number },
) =>
  tx.all<DeliveryRow>(
    `UPDATE deliveries SET leased_until = $4, attempts = attempts + 1 WHERE id IN (
       SELECT d.id FROM deliveries d
       WHERE d.state = 'pending' AND d.agent_id = $1 AND d.next_at <= $2 AND d.leased_until <= $3
       ORDER BY d.next_at, d.id LIMIT $5)
     RETURNING ${deliveryColumns}`,
    [claim.agentId, claim.now, claim.realNow, claim.leasedUntil, claim.count],
  )

/** What a dead process had in hand is free again. For an engine that only one process can hold. */
export const releaseLeases = (tx: Tx) => tx.run('UPDATE deliveries SET leased_until = 0 WHERE leased_until > 0')

export interface AttemptRow {
  deliveryId: string
  attempt: number
  url: string
  status: number | null
  reason: string | null
  message: string
  answer: string | null
  durationMs: number
  createdAt: number
}

export const insertAttempt = (tx: Tx, row: AttemptRow) =>
  tx.run(
    `INSERT INTO attempts (delivery_id, attempt, url, status, reason, message, answer, duration_ms, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      row.deliveryId,
      row.attempt,
      row.url,
      row.status,
      row.reason,
      row.message,
      row.answer,
      row.durationMs,
      row.createdAt,
    ],
  )

export const retryAt = (tx: Tx, id: string, nextAt: number) =>
  tx.run('UPDATE deliveries SET leased_until = 0, next_at = $2 WHERE id = $1', [id, nextAt])

export const endDelivery = (tx: Tx, id: string, state: 'delivered' | 'failed', now: number) =>
  tx.run('UPDATE deliveries SET state = $2, leased_until = 0, ended_at = $3 WHERE id = $1', [id, state, now])

/** The next one of a task whose head has ended may go. */
export const promoteNext = (tx: Tx, taskId: string, now: number) =>
  tx.run(
    `UPDATE deliveries SET state = 'pending', next_at = $2
     WHERE id = (SELECT MIN(d.id) FROM deliveries d WHERE d.task_id = $1 AND d.state = 'waiting')`,
    [taskId, now],
  )

/** When the next attempt is due, in domain ms; undefined if none is. */
export const nextDelivery = async (q: Reader) =>
  (await q.get<{ at: number | null }>(`SELECT MIN(next_at) AS at FROM deliveries WHERE state = 'pending'`))?.at ??
  undefined
