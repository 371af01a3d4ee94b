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

type NewDelivery = Omit<DeliveryRow, 'attempts'> & { createdAt: number }

/** Joins the end of its task's queue to this agent: `pending` if nothing is before it, else `waiting`. The task is held. */
export const insertDelivery = (tx: Tx, row: NewDelivery) =>
  tx.runAll([
    {
      sql: `INSERT INTO deliveries (id, agent_id, task_id, event, body, state, place, next_at, created_at)
     SELECT $1, $2, $3, $4, $5, CASE WHEN last.place IS NULL THEN 'pending' ELSE 'waiting' END,
       COALESCE(last.place + 1, 0), $6, $6
     FROM (SELECT MAX(d.place) AS place FROM deliveries d
       WHERE d.task_id = $3 AND d.agent_id = $2 AND d.ended_at IS NULL) last`,
      values: [row.id, row.agentId, row.taskId, row.event, row.body, row.createdAt],
    },
  ])

/** The first one of a task. `leasedUntil`: it is claimed already, by whoever writes it; 0: it is anyone's. */
export const insertFirstDelivery = (tx: Tx, row: NewDelivery, leasedUntil: number) =>
  tx.runAll([
    {
      sql: `INSERT INTO deliveries (id, agent_id, task_id, event, body, state, place, next_at, created_at,
       leased_until, attempts)
     VALUES ($1, $2, $3, $4, $5, 'pending', 0, $6, $6, $7, $8)`,
      values: [
        row.id,
        row.agentId,
        row.taskId,
        row.event,
        row.body,
        row.createdAt,
        leasedUntil,
        leasedUntil > 0 ? 1 : 0,
      ],
    },
  ])

export interface QueuedAgent {
  agentId: string
  webhookUrl: string | null
  /** Sealed. */
  secret: string | null
  /** 1 if something of its queue may be sent now. */
  due: 0 | 1
}

const isDue = `CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.state = 'pending' AND d.agent_id = a.id
  AND d.next_at <= $1 AND d.leased_until <= $2) THEN 1 ELSE 0 END AS due`

/**
 * Up to `count` agents with something to send now or later, by their ids, behind `after`. A skip scan: a long queue of
 * one agent costs what a short one does. `now` is domain time, `realNow` the machine's.
 */
export const queuedAgents = (
  q: Reader,
  { after, count, now, realNow }: { after: string; count: number; now: number; realNow: number },
) =>
  q.all<QueuedAgent>(
    `WITH RECURSIVE queue (agent_id, place) AS (
       SELECT MIN(agent_id), 1 FROM deliveries WHERE state = 'pending' AND agent_id > $3
       UNION ALL
       SELECT (SELECT MIN(d.agent_id) FROM deliveries d WHERE d.state = 'pending' AND d.agent_id > queue.agent_id),
         queue.place + 1
       FROM queue WHERE queue.agent_id IS NOT NULL AND queue.place < $4
     )
     SELECT a.id AS "agentId", a.webhook_url AS "webhookUrl", a.secret, ${isDue}
     FROM queue JOIN agents a ON a.id = queue.agent_id ORDER BY a.id`,
    [now, realNow, after, count],
  )

/** The same of one agent. */
export const queuedAgent = (q: Reader, agentId: string, now: number, realNow: number) =>
  q.get<QueuedAgent>(
    `SELECT a.id AS "agentId", a.webhook_url AS "webhookUrl", a.secret, ${isDue} FROM agents a WHERE a.id = $3`,
    [now, realNow, agentId],
  )

const deliveryColumns = columns('id', 'agentId', 'taskId', 'event', 'body', 'attempts')

/** Takes the first due delivery of one agent for the length of a lease, and counts the attempt. */
export const claimDelivery = (tx: Tx, claim: { agentId: string; now: number; realNow: number; leasedUntil: number }) =>
  tx.get<DeliveryRow>(
    `UPDATE deliveries SET leased_until = $4, attempts = attempts + 1 WHERE id = (
       SELECT d.id FROM deliveries d
       WHERE d.state = 'pending' AND d.agent_id = $1 AND d.next_at <= $2 AND d.leased_until <= $3
       ORDER BY d.next_at, d.id LIMIT 1 /*+ FOR UPDATE SKIP LOCKED */)
     RETURNING ${deliveryColumns}`,
    [claim.agentId, claim.now, claim.realNow, claim.leasedUntil],
  )

/** Takes claims back that came to nothing, as if they had not been. */
export const unclaimDeliveries = (tx: Tx, claimed: readonly Held[]) =>
  Promise.all(
    claimed.map(({ id, attempts }) =>
      tx.run(
        `UPDATE deliveries SET leased_until = 0, attempts = attempts - 1
         WHERE id = $1 AND attempts = $2 AND state = 'pending'`,
        [id, attempts],
      ),
    ),
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

/** Whoever holds the delivery: its attempts count every claim, so that an old holder is told apart. */
interface Held {
  id: string
  attempts: number
}

/** Answers 0 if another holds it by now. */
export const retryAt = (tx: Tx, { id, attempts, nextAt }: Held & { nextAt: number }) =>
  tx.run(`UPDATE deliveries SET leased_until = 0, next_at = $3 WHERE id = $1 AND attempts = $2 AND state = 'pending'`, [
    id,
    attempts,
    nextAt,
  ])

/** Answers 0 if another holds it by now. */
export const endDelivery = (tx: Tx, end: Held & { state: 'delivered' | 'failed'; endedAt: number }) =>
  tx.run(
    `UPDATE deliveries SET state = $3, leased_until = 0, ended_at = $4
     WHERE id = $1 AND attempts = $2 AND state = 'pending'`,
    [end.id, end.attempts, end.state, end.endedAt],
  )

/**
 * The next one of a task to an agent whose head has ended may go. The task is held, so that none joins meanwhile. False if
 * there is none.
 */
export async function promoteNext(tx: Tx, taskId: string, agentId: string, now: number): Promise<boolean> {
  const next = await tx.get<{ id: string }>(
    `SELECT d.id FROM deliveries d WHERE d.task_id = $1 AND d.agent_id = $2 AND d.state = 'waiting' AND d.ended_at IS NULL
     ORDER BY d.place, d.id LIMIT 1`,
    [taskId, agentId],
  )
  if (!next) return false
  await tx.run(`UPDATE deliveries SET state = 'pending', next_at = $2 WHERE id = $1 AND state = 'waiting'`, [
    next.id,
    now,
  ])
  return true
}

/** What is not delivered yet, by state. */
export const outboxDepth = (q: Reader) =>
  q.all<{ state: 'pending' | 'waiting'; count: number; oldestAt: number }>(
    `SELECT state, COUNT(*) AS count, MIN(created_at) AS "oldestAt" FROM deliveries
     WHERE ended_at IS NULL GROUP BY state ORDER BY state`,
  )
