/** The log of webhooks, read by the builders whose agents they went to. Source: A-28. */

import type { TaskState } from '../../../api/flow.ts'
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

const placesFor = (ids: readonly string[]) => ids.map((_, i) => `$${i + 1}`).join(', ')

/** What a diagnosis is made of: an attempt, and what it was to bring. */
export type TriedRow = AttemptRow & {
  readonly agentId: string
  readonly taskId: string
  readonly event: string
}
const tried = `${attempts.as('x')}, d.agent_id AS "agentId", d.task_id AS "taskId", d.event
  FROM deliveries d JOIN attempts x ON x.delivery_id = d.id`
const isLast = 'x.attempt = (SELECT MAX(m.attempt) FROM attempts m WHERE m.delivery_id = d.id)'

/** The last attempt of each of these deliveries that has any. */
export async function lastAttempts(q: Reader, ids: readonly string[]): Promise<TriedRow[]> {
  if (ids.length === 0) return []
  return q.all<TriedRow>(`SELECT ${tried} AND ${isLast} WHERE d.id IN (${placesFor(ids)})`, ids)
}

const ofAgent = (which: string) => `(SELECT n.id FROM deliveries n WHERE n.agent_id = a.id ${which} LIMIT 1)`

/**
 * For each of these agents the last attempt of its newest delivery, and of the one that is tried again last; with the state of the task
 * that they are about.
 */
export async function newestAttempts(q: Reader, agentIds: readonly string[]) {
  if (agentIds.length === 0) return []
  const of = `FROM agents a WHERE a.id IN (${placesFor(agentIds)})`
  return q.all<TriedRow & { readonly taskStatus: TaskState | null }>(
    `SELECT t.status AS "taskStatus", ${tried} AND ${isLast} LEFT JOIN tasks t ON t.id = d.task_id
     WHERE d.id IN (SELECT ${ofAgent('ORDER BY n.id DESC')} ${of}
       UNION SELECT ${ofAgent("AND n.state = 'pending' ORDER BY n.next_at DESC, n.id DESC")} ${of})
     ORDER BY x.created_at`,
    agentIds,
  )
}

/** How many deliveries of an agent are looked through for those of a task: there is no index for what has ended. */
const LOOKED_THROUGH = 1_000
const MOST_ATTEMPTS = 20

/** The last attempts to bring an agent something about a task, in order. */
export const attemptsAbout = async (q: Reader, taskId: string, agentId: string) => {
  const newest = `SELECT n.id, n.task_id FROM deliveries n WHERE n.agent_id = $2 ORDER BY n.id DESC LIMIT ${LOOKED_THROUGH}`
  const rows = await q.all<TriedRow>(
    `SELECT ${tried} WHERE d.id IN (SELECT o.id FROM (${newest}) o WHERE o.task_id = $1)
     ORDER BY x.created_at DESC, x.attempt DESC LIMIT ${MOST_ATTEMPTS}`,
    [taskId, agentId],
  )
  return rows.reverse()
}

export const countDeliveries = (q: Reader, agentId: string) =>
  countShown(q, ['FROM deliveries WHERE agent_id = $1'], [agentId])

/** Undefined if it went to another agent. */
export const deliveryOf = async (q: Reader, agentId: string, id: string) => {
  const sql = `SELECT ${logged}, body FROM deliveries WHERE agent_id = $1 AND id = $2`
  const found = await q.get<LoggedDeliveryRow>(sql, [agentId, id])
  return found && withBody(found)
}

const made = ['attempt', 'url', 'status', 'reason', 'message', 'answer', 'location', 'durationMs', 'createdAt'] as const
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
