/** Webhooks that wait to be sent, and the log of their attempts, as rows. One task's wait behind each other. Source: A-37. */
import type { Reader, Tx } from '../db.ts'
import { packed, unpacked } from '../packed-text.ts'
import { type AgentRow, agents } from './agents.ts'
import { bigint, defaulted, integer, nullable, type Row, table, text } from './table.ts'

export const deliveries = table('deliveries', {
  id: text(),
  agentId: text(),
  taskId: text(),
  event: text(),
  /** As `packed` stores it; empty when retention has removed it. */
  body: text(),
  state: text<'waiting' | 'pending' | 'delivered' | 'failed'>(),
  /** Counts every claim, so that an old holder is told apart. */
  attempts: defaulted(integer()),
  nextAt: bigint(),
  /** Real time. */
  leasedUntil: defaulted(bigint()),
  createdAt: bigint(),
  endedAt: nullable(bigint()),
  redeliveryOf: nullable(text()),
  /** Where it stands in the queue of its task. Ids tell the time of the instance that wrote them, and clocks differ. */
  position: defaulted(integer()),
  /** Among whose texts its body counts until it is removed; null: nobody's. */
  countedTo: nullable(text()),
})

export const attempts = table('attempts', {
  deliveryId: text(),
  attempt: integer(),
  url: text(),
  status: nullable(integer()),
  reason: nullable(text()),
  message: text(),
  answer: nullable(text()),
  durationMs: integer(),
  createdAt: bigint(),
})

const sent = ['id', 'agentId', 'taskId', 'event', 'body', 'attempts'] as const
const deliveryColumns = deliveries.some(sent)

/** What it takes to send one. */
export type DeliveryRow = Pick<Row<typeof deliveries>, (typeof sent)[number]>
export type AttemptRow = Row<typeof attempts>

/** The row with its body as it is sent. */
export function withBody<Row extends { body?: string | null }>(row: Row): Row {
  if (row.body) row.body = unpacked(row.body)
  return row
}

type NewDelivery = Omit<DeliveryRow, 'attempts'> & Pick<Row<typeof deliveries>, 'createdAt' | 'countedTo'>

/** The first or the last position of a task's queue to one agent. However long that is, it is read at one end. */
const endOf = (order: 'ASC' | 'DESC', taskId: string, agentId: string) =>
  `(SELECT d.position FROM deliveries d WHERE d.task_id = ${taskId} AND d.agent_id = ${agentId} AND d.ended_at IS NULL
    ORDER BY d.position ${order}, d.id ${order} LIMIT 1)`

/** How many events of a task wait for one agent. They leave at one end and join at the other, so no position is free. */
export const queueLength = async (q: Reader, taskId: string, agentId: string) =>
  (await q.get<{ length: number }>(
    `SELECT COALESCE(${endOf('DESC', '$1', '$2')} - ${endOf('ASC', '$1', '$2')} + 1, 0) AS length`,
    [taskId, agentId],
  ))!.length

/** Joins the end of its task's queue to this agent: `pending` if nothing is before it, else `waiting`. The task is held. */
export const insertDelivery = (tx: Tx, row: NewDelivery) =>
  tx.runAll([
    {
      sql: `INSERT INTO deliveries (id, agent_id, task_id, event, body, state, position, next_at, created_at, counted_to)
     SELECT $1, $2, $3, $4, $5, CASE WHEN last.position IS NULL THEN 'pending' ELSE 'waiting' END,
       COALESCE(last.position + 1, 0), $6, $6, $7
     FROM (SELECT ${endOf('DESC', '$3', '$2')} AS position) last`,
      values: [row.id, row.agentId, row.taskId, row.event, packed(row.body), row.createdAt, row.countedTo],
    },
  ])

/** The first one of a task; perhaps claimed already, by whoever writes it. */
export const insertFirstDelivery = (tx: Tx, row: NewDelivery, claim: { leasedUntil: number; attempts: number }) =>
  tx.runAll([
    deliveries.insertStep({
      id: row.id,
      agentId: row.agentId,
      taskId: row.taskId,
      event: row.event,
      body: packed(row.body),
      state: 'pending',
      position: 0,
      nextAt: row.createdAt,
      createdAt: row.createdAt,
      countedTo: row.countedTo,
      leasedUntil: claim.leasedUntil,
      attempts: claim.attempts,
    }),
  ])

const ofReceiver = ['builderId', 'webhookUrl', 'secret'] as const
const receiver = `a.id AS "agentId", ${agents.some(ofReceiver, 'a')}`

export interface QueuedAgent extends Pick<AgentRow, (typeof ofReceiver)[number]> {
  agentId: string
  /** 1 if something of its queue may be sent now. */
  due: 0 | 1
}

const isDue = (now: string, realNow: string) =>
  `CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.state = 'pending' AND d.agent_id = a.id
    AND d.next_at <= ${now} AND d.leased_until <= ${realNow}) THEN 1 ELSE 0 END AS due`

// A skip scan: a long queue of one agent costs what a short one does.
const queued = `WITH RECURSIVE queue (agent_id, position) AS (
    SELECT MIN(agent_id), 1 FROM deliveries WHERE state = 'pending' AND agent_id > $1
    UNION ALL
    SELECT (SELECT MIN(d.agent_id) FROM deliveries d WHERE d.state = 'pending' AND d.agent_id > queue.agent_id),
      queue.position + 1
    FROM queue WHERE queue.agent_id IS NOT NULL AND queue.position < $2
  )`

/** Up to `count` agents by their ids, behind `after`. `now` is domain time, `realNow` the machine's. */
interface QueuePage {
  after: string
  count: number
  now: number
  realNow: number
}

/** Agents with something to send now or later. */
export const queuedAgents = (q: Reader, { after, count, now, realNow }: QueuePage) =>
  q.all<QueuedAgent>(
    `${queued}
     SELECT ${receiver}, ${isDue('$3', '$4')}
     FROM queue JOIN agents a ON a.id = queue.agent_id ORDER BY a.id`,
    [after, count, now, realNow],
  )

/** The same of one agent. */
export const queuedAgent = (q: Reader, at: { agentId: string; now: number; realNow: number }) =>
  q.get<QueuedAgent>(`SELECT ${receiver}, ${isDue('$1', '$2')} FROM agents a WHERE a.id = $3`, [
    at.now,
    at.realNow,
    at.agentId,
  ])

/** An agent with the first of its deliveries that is due, claimed or not; `id` is null if none is. */
export type QueueHead = Omit<QueuedAgent, 'due'> & (DeliveryRow | { id: null; body: null })

const head = `SELECT ${receiver},
  d.id, d.task_id AS "taskId", d.event, d.body, d.attempts`
const firstDue = (now: string) =>
  `LEFT JOIN deliveries d ON d.id = (SELECT n.id FROM deliveries n
    WHERE n.state = 'pending' AND n.agent_id = a.id AND n.next_at <= ${now} ORDER BY n.next_at, n.id LIMIT 1)`

/** Agents with something to send now or later. */
export const queueHeads = async (q: Reader, { after, count, now }: Omit<QueuePage, 'realNow'>) => {
  const sql = `${queued} ${head} FROM queue JOIN agents a ON a.id = queue.agent_id ${firstDue('$3')} ORDER BY a.id`
  return (await q.all<QueueHead>(sql, [after, count, now])).map(withBody)
}

/** The same of one agent. */
export const queueHead = async (q: Reader, agentId: string, now: number) => {
  const found = await q.get<QueueHead>(`${head} FROM agents a ${firstDue('$2')} WHERE a.id = $1`, [agentId, now])
  return found && withBody(found)
}

/** The first due deliveries of one agent, claimed or not. */
export const dueDeliveries = async (
  q: Reader,
  { agentId, now, count }: { agentId: string; now: number; count: number },
) => {
  const sql = `SELECT ${deliveryColumns} FROM deliveries
     WHERE state = 'pending' AND agent_id = $1 AND next_at <= $2 ORDER BY next_at, id LIMIT $3`
  return (await q.all<DeliveryRow>(sql, [agentId, now, count])).map(withBody)
}

/** Takes the first due delivery of one agent for the length of a lease, and counts the attempt. */
export const claimDelivery = async (
  tx: Tx,
  claim: { agentId: string; now: number; realNow: number; leasedUntil: number },
) => {
  const claimed = await tx.get<DeliveryRow>(
    `UPDATE deliveries SET leased_until = $4, attempts = attempts + 1 WHERE id = (
       SELECT d.id FROM deliveries d
       WHERE d.state = 'pending' AND d.agent_id = $1 AND d.next_at <= $2 AND d.leased_until <= $3
       ORDER BY d.next_at, d.id LIMIT 1 /*+ FOR UPDATE SKIP LOCKED */)
     RETURNING ${deliveryColumns}`,
    [claim.agentId, claim.now, claim.realNow, claim.leasedUntil],
  )
  return claimed && withBody(claimed)
}

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

export const insertAttempt = (tx: Tx, row: AttemptRow) => attempts.insert(tx, row)

/** Whoever holds the delivery: its attempts count every claim, so that an old holder is told apart. */
interface Held {
  id: string
  attempts: number
}

/** One `attempt` at it was made. */
interface Made extends Held {
  attempt: number
  taskId: string
  agentId: string
}

/** Whether something of the agent may be due by that. */
interface Noted {
  follows: boolean
}

/** Null if another holds it by now. */
export async function retryAt(tx: Tx, { id, attempts, attempt }: Made, nextAt: number): Promise<Noted | null> {
  const changed = await deliveries.update(
    tx,
    { id, attempts, state: 'pending' },
    { leasedUntil: 0, attempts: attempt, nextAt },
  )
  // It may have been hurried while the attempt was under way.
  return changed === 0 ? null : { follows: true }
}

const end = `UPDATE deliveries SET leased_until = 0, attempts = $3, state = $4, ended_at = $5
  WHERE id = $1 AND attempts = $2 AND state = 'pending'`
const behind = (taskId: string, agentId: string) =>
  `SELECT n.id FROM deliveries n
   WHERE n.task_id = ${taskId} AND n.agent_id = ${agentId} AND n.state = 'waiting' AND n.ended_at IS NULL`
const last = `${end} AND NOT EXISTS (${behind('$6', '$7')})`
const promote = `UPDATE deliveries SET state = 'pending', next_at = $3
  WHERE id = (${behind('$1', '$2')} ORDER BY n.position, n.id LIMIT 1)`

/** The task is held, so that none joins its queue meanwhile. Null if another holds the delivery by now. */
export async function endDelivery(
  tx: Tx,
  { id, attempts, attempt, taskId, agentId }: Made,
  state: 'delivered' | 'failed',
  endedAt: number,
): Promise<Noted | null> {
  const values = [id, attempts, attempt, state, endedAt]
  // Most often nothing waits behind it.
  if ((await tx.run(last, [...values, taskId, agentId])) > 0) return { follows: false }
  if ((await tx.run(end, values)) === 0) return null
  await tx.run(promote, [taskId, agentId, endedAt])
  return { follows: true }
}

/** What is not delivered yet, by state. */
export const outboxDepth = (q: Reader) =>
  q.all<{ state: 'pending' | 'waiting'; count: number; oldestAt: number }>(
    `SELECT state, COUNT(*) AS count, MIN(created_at) AS "oldestAt" FROM deliveries
     WHERE ended_at IS NULL GROUP BY state ORDER BY state`,
  )
