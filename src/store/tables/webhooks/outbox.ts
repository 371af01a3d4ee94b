/** Webhook deliveries and their attempts. Deliveries of one task to one agent form a queue. Source: A-37. */
import type { Reader, Tx } from '../../db.ts'
import { packed, unpacked } from '../../packed-text.ts'
import { type AgentRow, agents } from '../agents/agents.ts'
import { bigint, defaulted, integer, nullable, type Row, table, text } from '../table.ts'

export const deliveries = table('deliveries', {
  id: text(),
  agentId: text(),
  taskId: text(),
  event: text(),
  /** As `packed` stores it; empty when retention has removed it. */
  body: text(),
  state: text<'waiting' | 'pending' | 'delivered' | 'failed'>(),
  /** Counts every claim. A sender whose lease is over notices by it that another has claimed the delivery. */
  attempts: defaulted(integer()),
  nextAt: bigint(),
  /** Real time. */
  leasedUntil: defaulted(bigint()),
  /** The instance that has claimed it. Once that is no sender any more, the claim is over, whatever its lease says. */
  sender: nullable(text()),
  createdAt: bigint(),
  endedAt: nullable(bigint()),
  redeliveryOf: nullable(text()),
  /** Orders the queue of its task. Ids could not: they contain the time of an instance, and clocks differ. */
  position: defaulted(integer()),
  /** The account whose text quota counts the body; null if none. */
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
  /** Of a redirect: where it leads to. */
  location: nullable(text()),
  durationMs: integer(),
  createdAt: bigint(),
})

const sent = ['id', 'agentId', 'taskId', 'event', 'body', 'attempts'] as const
const deliveryColumns = deliveries.some(sent)

/** What a sender needs to know of a delivery. */
export type DeliveryRow = Pick<Row<typeof deliveries>, (typeof sent)[number]>
export type AttemptRow = Row<typeof attempts>

/** Unpacks the body of the row. */
export function withBody<Row extends { body?: string | null }>(row: Row): Row {
  if (row.body) row.body = unpacked(row.body)
  return row
}

type NewDelivery = Omit<DeliveryRow, 'attempts'> & Pick<Row<typeof deliveries>, 'createdAt' | 'countedTo'>

/** The first or the last position in the queue of a task to one agent. Reads one row, however long the queue is. */
const endOf = (order: 'ASC' | 'DESC', taskId: string, agentId: string) =>
  `(SELECT d.position FROM deliveries d WHERE d.task_id = ${taskId} AND d.agent_id = ${agentId} AND d.ended_at IS NULL
    ORDER BY d.position ${order}, d.id ${order} LIMIT 1)`

/** How many deliveries of a task wait for one agent. The first leaves and the last joins, so positions have no gaps. */
export const queueLength = async (q: Reader, taskId: string, agentId: string) =>
  (await q.get<{ length: number }>(
    `SELECT COALESCE(${endOf('DESC', '$1', '$2')} - ${endOf('ASC', '$1', '$2')} + 1, 0) AS length`,
    [taskId, agentId],
  ))!.length

const enqueue = deliveries.insertSelect(
  {
    id: '$1',
    agentId: '$2',
    taskId: '$3',
    event: '$4',
    body: '$5',
    state: `CASE WHEN last.position IS NULL THEN 'pending' ELSE 'waiting' END`,
    position: 'COALESCE(last.position + 1, 0)',
    nextAt: '$6',
    createdAt: '$6',
    countedTo: '$7',
  },
  `FROM (SELECT ${endOf('DESC', '$3', '$2')} AS position) last`,
)

/** Adds a delivery to its queue: `pending` if it is the first, else `waiting`. The caller has locked the task. */
export const insertDelivery = (tx: Tx, row: NewDelivery) =>
  tx.runAll([
    {
      sql: enqueue,
      values: [row.id, row.agentId, row.taskId, row.event, packed(row.body), row.createdAt, row.countedTo],
    },
  ])

/** What the row of a new delivery says of who sends it. `leasedUntil`: real ms. */
export interface FirstClaim {
  leasedUntil: number
  attempts: number
  sender: string | null
}

/** Inserts the first delivery of a task. Whoever writes it may claim it at once. */
export const insertFirstDelivery = (tx: Tx, row: NewDelivery, claim: FirstClaim) =>
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
      sender: claim.sender,
    }),
  ])

const ofReceiver = ['builderId', 'webhookUrl', 'secret'] as const
const receiver = `a.id AS "agentId", ${agents.some(ofReceiver, 'a')}`

export interface QueuedAgent extends Pick<AgentRow, (typeof ofReceiver)[number]> {
  agentId: string
  /** 1 if a delivery of this agent may be sent now. */
  due: 0 | 1
}

/** Claimed by nobody, or by a sender that is gone. */
const isFree = (realNow: string) =>
  `(d.leased_until <= ${realNow}
     OR (d.sender IS NOT NULL AND NOT EXISTS (SELECT 1 FROM senders s WHERE s.id = d.sender)))`

const isDue = (now: string, realNow: string) =>
  `CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.state = 'pending' AND d.agent_id = a.id
    AND d.next_at <= ${now} AND ${isFree(realNow)}) THEN 1 ELSE 0 END AS due`

// A skip scan: a long queue of one agent costs what a short one does.
const queued = `WITH RECURSIVE queue (agent_id, position) AS (
    SELECT MIN(agent_id), 1 FROM deliveries WHERE state = 'pending' AND agent_id > $1
    UNION ALL
    SELECT (SELECT MIN(d.agent_id) FROM deliveries d WHERE d.state = 'pending' AND d.agent_id > queue.agent_id),
      queue.position + 1
    FROM queue WHERE queue.agent_id IS NOT NULL AND queue.position < $2
  )`

/** Up to `count` agents with ids after `after`, in the order of ids. `now` is domain time, `realNow` real time. */
interface QueuePage {
  after: string
  count: number
  now: number
  realNow: number
}

/** Agents with pending deliveries, due or not. */
export const queuedAgents = (q: Reader, { after, count, now, realNow }: QueuePage) =>
  q.all<QueuedAgent>(
    `${queued}
     SELECT ${receiver}, ${isDue('$3', '$4')}
     FROM queue JOIN agents a ON a.id = queue.agent_id ORDER BY a.id`,
    [after, count, now, realNow],
  )

/** The same for one agent. */
export const queuedAgent = (q: Reader, at: { agentId: string; now: number; realNow: number }) =>
  q.get<QueuedAgent>(`SELECT ${receiver}, ${isDue('$1', '$2')} FROM agents a WHERE a.id = $3`, [
    at.now,
    at.realNow,
    at.agentId,
  ])

/** An agent with its first due delivery, claimed or not. `id` is null if none is due. */
export type QueueHead = Omit<QueuedAgent, 'due'> & (DeliveryRow | { id: null; body: null })

const ofHead = sent.filter(name => name !== 'agentId')
const head = `SELECT ${receiver}, ${deliveries.some(ofHead, 'd')}`
const firstDue = (now: string) =>
  `LEFT JOIN deliveries d ON d.id = (SELECT n.id FROM deliveries n
    WHERE n.state = 'pending' AND n.agent_id = a.id AND n.next_at <= ${now} ORDER BY n.next_at, n.id LIMIT 1)`

/**
 * Agents with pending deliveries, each with its first due one. Ordered here: ORDER BY would copy the bodies into a sorter.
 * That takes 6.1 µs for each agent, without it 3.9.
 */
export const queueHeads = async (q: Reader, { after, count, now }: Omit<QueuePage, 'realNow'>) => {
  const sql = `${queued} ${head} FROM queue JOIN agents a ON a.id = queue.agent_id ${firstDue('$3')}`
  const found = await q.all<QueueHead>(sql, [after, count, now])
  for (const one of found) withBody(one)
  return found.sort((one, other) => (one.agentId < other.agentId ? -1 : 1))
}

/** The same for one agent. */
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

/** Claims the first due delivery of one agent for `sender` and the length of a lease, and counts the attempt. */
export const claimDelivery = async (
  tx: Tx,
  claim: { agentId: string; now: number; realNow: number; leasedUntil: number; sender: string },
) => {
  const claimed = await tx.get<DeliveryRow>(
    `UPDATE deliveries SET leased_until = $4, sender = $5, attempts = attempts + 1 WHERE id = (
       SELECT d.id FROM deliveries d
       WHERE d.state = 'pending' AND d.agent_id = $1 AND d.next_at <= $2 AND ${isFree('$3')}
       ORDER BY d.next_at, d.id LIMIT 1 /*+ FOR UPDATE SKIP LOCKED */)
     RETURNING ${deliveryColumns}`,
    [claim.agentId, claim.now, claim.realNow, claim.leasedUntil, claim.sender],
  )
  return claimed && withBody(claimed)
}

/** Undoes claims that were not used. */
export const unclaimDeliveries = (tx: Tx, claimed: readonly Claim[]) =>
  Promise.all(
    claimed.map(({ id, attempts }) =>
      tx.run(
        `UPDATE deliveries SET leased_until = 0, attempts = attempts - 1
         WHERE id = $1 AND attempts = $2 AND state = 'pending'`,
        [id, attempts],
      ),
    ),
  )

export const insertAttempt = (tx: Tx, row: AttemptRow) => tx.runAll([attempts.insertStep(row)])

/** One claim of a delivery. `attempts` is what the row says while the claim is valid. */
interface Claim {
  id: string
  attempts: number
}

/** A claim by which the attempt of this number was made. */
interface Made extends Claim {
  attempt: number
  taskId: string
  agentId: string
}

/** `follows`: whether another delivery of the agent may now be due. */
interface Noted {
  follows: boolean
}

/**
 * Returns null if another sender has claimed the delivery by now, or the attempt is written already: whoever got no answer from
 * the database tries again.
 */
export async function retryAt(tx: Tx, { id, attempts, attempt }: Made, nextAt: number): Promise<Noted | null> {
  const changed = await tx.run(
    `UPDATE deliveries SET leased_until = 0, attempts = $3, next_at = $4
     WHERE id = $1 AND attempts = $2 AND state = 'pending'
       AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.delivery_id = $1 AND a.attempt = $3)`,
    [id, attempts, attempt, nextAt],
  )
  // A builder may have asked meanwhile for the next attempt to be made at once.
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

/**
 * Ends a delivery, and makes the next one of its queue pending. The caller has locked the task, so that no delivery joins
 * the queue meanwhile. Returns null if another sender has claimed the delivery by now.
 */
export async function endDelivery(
  tx: Tx,
  { id, attempts, attempt, taskId, agentId }: Made,
  state: 'delivered' | 'failed',
  endedAt: number,
): Promise<Noted | null> {
  const values = [id, attempts, attempt, state, endedAt]
  // Tried first, because most often no other delivery waits in the queue.
  if ((await tx.run(last, [...values, taskId, agentId])) > 0) return { follows: false }
  if ((await tx.run(end, values)) === 0) return null
  await tx.run(promote, [taskId, agentId, endedAt])
  return { follows: true }
}

/** How many deliveries are open, by state. */
export const outboxDepth = (q: Reader) =>
  q.all<{ state: 'pending' | 'waiting'; count: number; oldestAt: number }>(
    `SELECT state, COUNT(*) AS count, MIN(created_at) AS "oldestAt" FROM deliveries
     WHERE ended_at IS NULL GROUP BY state ORDER BY state`,
  )
