/** The log of webhooks, read by the builders whose agents they went to. Source: A-28. */

import type { TaskState } from '../../../api/flow.ts'
import { limits } from '../../../api/limits.ts'
import type { Reader, Tx } from '../../db.ts'
import { countOfBuilder } from '../agents/agents.ts'
import { Conditions, contains, countShown, IN_ALL, lowerAscii, type Row, readPage } from '../table.ts'
import { type AttemptRow, attempts, deliveries, withBody } from './outbox.ts'

const told = ['id', 'agentId', 'taskId', 'event', 'state', 'redeliveryOf', 'nextAt', 'createdAt', 'endedAt'] as const

export interface LoggedDeliveryRow extends Pick<Row<typeof deliveries>, (typeof told)[number] | 'attempts' | 'body'> {
  readonly agentSlug: string
  readonly agentName: string
  readonly webhookUrl: string | null
  readonly taskTitle: string | null
  readonly resentAs: string | null
}

// A lease counts the attempt that it is held for, of which nothing is known yet.
const logged = `${deliveries.some(told, 'd')},
  CASE WHEN d.leased_until > 0 THEN d.attempts - 1 ELSE d.attempts END AS attempts,
  a.slug AS "agentSlug", a.name AS "agentName", a.webhook_url AS "webhookUrl", t.title AS "taskTitle",
  (SELECT r.id FROM deliveries r WHERE r.redelivery_of = d.id ORDER BY r.id DESC LIMIT 1) AS "resentAs"`
const from = 'FROM deliveries d JOIN agents a ON a.id = d.agent_id LEFT JOIN tasks t ON t.id = d.task_id'

/** Which deliveries are wanted; null: whatever it is. `agentId` null: those of all agents of the builder that are not deleted. */
export interface DeliveryFilter {
  readonly builderId: string
  readonly agentId: string | null
  readonly status: Row<typeof deliveries>['state'] | null
  readonly event: string | null
  readonly taskId: string | null
  /** Domain ms. */
  readonly since: number | null
  /** What the title of the task contains, or the id of the delivery or of the task. */
  readonly q: string | null
  readonly resent: false | null
}

/** Of at least so many deliveries of one agent it is looked whether they are wanted. */
const LEAST_LOOKED_THROUGH = 100

/** However many there are. */
const EVERY = 2 ** 31 - 1

const looked = ['id', 'agent_id', 'task_id', 'event', 'state', 'created_at'].map(name => `n.${name}`).join(', ')

/** `newest`: so many of each agent are looked through. A limit keeps Postgres to their index: it can't know how few are wanted. */
function wantedOf(filter: DeliveryFilter, newest: number) {
  const { builderId, agentId, status, event, taskId, since, q, resent } = filter
  const where = new Conditions()
  const isIn = (alias: string) => (status === 'failed' ? `AND ${alias}.state = 'failed'` : '')
  const whose = where.value(agentId ?? builderId)
  const count = Math.max(newest, 1)
  const most = where.value(count)
  const newestOf = (agent: string) => `n WHERE n.agent_id = ${agent} ${isIn('n')} ORDER BY n.id DESC LIMIT`
  const from = agentId === null ? ofAll() : `(SELECT ${looked} FROM deliveries ${newestOf(whose)} ${most}) d`
  /** The embedded engine has no LATERAL: it is told where the newest of each agent begin. */
  function ofAll() {
    const first = `(SELECT n.id FROM deliveries ${newestOf('a.id')} 1 OFFSET ${where.value(count - 1)})`
    return `(SELECT a.id, COALESCE(${first}, '') AS first FROM agents a
        WHERE a.builder_id = ${whose} AND a.deleted_at IS NULL LIMIT ${limits.page.reach}) a
      JOIN /*+ LATERAL (SELECT ${looked} FROM */ deliveries /*+ ${newestOf('a.id')} ${most}) */ d
        ON d.agent_id = a.id AND d.id >= a.first`
  }
  where.add(status === 'failed' ? null : status, state => `d.state = ${state}`)
  where.add(event, name => `d.event = ${name}`)
  where.add(taskId, task => `d.task_id = ${task}`)
  where.add(since, time => `d.created_at >= ${time}`)
  where.add(q === null ? null : lowerAscii(q), part => `(${contains(TITLE, part)} OR ${ids(where.value(q!))})`)
  const unsent = resent === false ? 'AND NOT EXISTS (SELECT 1 FROM deliveries r WHERE r.redelivery_of = d.id)' : ''
  return { text: `FROM ${from} WHERE ${where.text || '1 = 1'} ${isIn('d')} ${unsent}`, values: where.values }
}

/** No join: Postgres would read all tasks for it, as it can't know how few deliveries there are. */
const TITLE = '(SELECT t.title FROM tasks t WHERE t.id = d.task_id)'
const ids = (value: string) => `d.id = ${value} OR d.task_id = ${value}`

/** null if an index holds just those that are wanted. */
async function lookedThrough(q: Reader, filter: DeliveryFilter): Promise<number | null> {
  const { builderId, agentId, status, event, taskId, since, q: words } = filter
  const isExact = [status === 'failed' ? null : status, event, taskId, since, words].every(each => each === null)
  if (isExact) return null
  if (agentId !== null) return limits.page.reach
  const agents = await countOfBuilder(q, builderId)
  return Math.max(LEAST_LOOKED_THROUGH, Math.ceil(limits.page.reach / Math.max(agents, 1)))
}

type Listed = Omit<LoggedDeliveryRow, 'body'>

/** One page of the deliveries that are wanted, newest first. */
export async function deliveriesOf(q: Reader, filter: DeliveryFilter, limit: number, offset: number) {
  const newest = await lookedThrough(q, filter)
  const { text, values } = wantedOf(filter, newest ?? limit + offset)
  const [most, before] = [1, 2].map(number => `$${values.length + number}`)
  const sql = (select: string, ids: string) => `${select} ${from}
    WHERE d.id IN (${ids} DESC LIMIT ${most} OFFSET ${before}) ORDER BY d.id DESC`
  const isOneLook = newest !== null && isRare(filter)
  return readPage<Listed & { readonly inAll?: number }>(
    q,
    isOneLook
      ? `WITH wanted AS MATERIALIZED (SELECT d.id ${text})
         ${sql(`SELECT ${logged}, ${IN_ALL}`, 'SELECT mine.id FROM wanted mine ORDER BY mine.id')}`
      : sql(`SELECT ${logged}`, `SELECT d.id ${text} ORDER BY d.id`),
    [...values, limit, offset],
  )
}

/** What few have: a page of these says how many there are. Of what many have, it finds its rows among the first that it looks at. */
export const isRare = ({ q, taskId, status }: DeliveryFilter) => q !== null || taskId !== null || status !== null

export async function countDeliveries(q: Reader, filter: DeliveryFilter) {
  const { text, values } = wantedOf(filter, (await lookedThrough(q, filter)) ?? limits.page.reach)
  return countShown(q, [text], values)
}

/** How many of those that are wanted are in each state. */
export async function deliveriesByState(q: Reader, filter: DeliveryFilter) {
  const newest = (await lookedThrough(q, { ...filter, since: filter.since ?? 0 }))!
  const { text, values } = wantedOf(filter, newest)
  const sql = `SELECT d.state, COUNT(*) AS count ${text} GROUP BY d.state`
  const rows = await q.all<{ state: Listed['state']; count: number }>(sql, values)
  const counts = { waiting: 0, pending: 0, delivered: 0, failed: 0 }
  for (const { state, count } of rows) counts[state] = Math.min(count, limits.page.reach)
  return { ...counts, failed: await countDeliveries(q, { ...filter, status: 'failed' }) }
}

/** The oldest of those that are wanted, with their bodies. */
export async function oldestDeliveries(q: Reader, filter: DeliveryFilter, most: number) {
  const { text, values } = wantedOf(filter, (await lookedThrough(q, filter)) ?? EVERY)
  const oldest = `SELECT d.id ${text} ORDER BY d.id LIMIT $${values.length + 1}`
  return (await q.all<{ id: string }>(oldest, [...values, most])).map(({ id }) => id)
}

/** Those of a builder's deliveries that have these ids, the oldest first. */
export async function deliveriesCalled(q: Reader, builderId: string, wanted: readonly string[]) {
  if (wanted.length === 0) return []
  const sql = `SELECT ${logged}, d.body ${from} WHERE d.id IN (${placesFor(wanted)}) AND a.builder_id = $${wanted.length + 1}
    AND a.deleted_at IS NULL ORDER BY d.id`
  return (await q.all<LoggedDeliveryRow>(sql, [...wanted, builderId])).map(withBody)
}

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

/**
 * How many deliveries of an agent are looked through for those of a task: there is no index for what has ended.
 * @internal A test has fewer, and looks through fewer.
 */
export const LOOKED_THROUGH = 1_000
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

/** Undefined if it went to another agent. */
export const deliveryOf = async (q: Reader, agentId: string, id: string) => {
  const sql = `SELECT ${logged}, d.body ${from} WHERE d.agent_id = $1 AND d.id = $2`
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

const marks = ['deliveryId', 'attempt', 'status', 'reason', 'durationMs', 'createdAt'] as const
export type AttemptMark = Pick<AttemptRow, (typeof marks)[number]>

/** What came of each attempt at these deliveries, in order. A delivery has no more than its schedule has. */
export const attemptMarks = async (q: Reader, wanted: readonly string[]) =>
  wanted.length === 0
    ? []
    : q.all<AttemptMark>(
        `SELECT ${attempts.some(marks)} FROM attempts WHERE delivery_id IN (${placesFor(wanted)})
         ORDER BY delivery_id, attempt`,
        wanted,
      )

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
