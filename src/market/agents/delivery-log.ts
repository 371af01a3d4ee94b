/** The delivery log: what was sent to an agent, what it answered, and redelivery. Source. */
import type { DiagnosisRecord } from '../../api/diagnosis/record.ts'
import type { InputOf } from '../../api/endpoint.ts'
import type { Endpoints } from '../../api/endpoints/index.ts'
import { invalid, Refusal, refuse } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import { type Paging, rowsOf } from '../../api/page.ts'
import type { DeliveryDetails, DeliveryRecord } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import type { ListedAgentRow } from '../../store/tables/agents/agents.ts'
import { totalOf } from '../../store/tables/table.ts'
import {
  type AttemptMark,
  attemptMarks,
  attemptsAt,
  countDeliveries,
  type DeliveryFilter,
  deliveriesByState,
  deliveriesCalled,
  deliveriesOf,
  deliveryOf,
  hurry,
  isRare,
  type LoggedDeliveryRow,
  lastAttempts,
  markRedelivery,
  oldestDeliveries,
} from '../../store/tables/webhooks/deliveries.ts'
import { insertDelivery } from '../../store/tables/webhooks/outbox.ts'
import type { Acting, Ctx, ReadCtx } from '../market.ts'
import { aboutAgent, diagnosedAttempt, Stories, told } from '../stories.ts'
import { reserveTexts, webhookWeight } from '../text-quota.ts'
import { iso, isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'
import { refuseIfQueueFull } from '../webhooks/outbox.ts'
import { ownAgentOf, visibleAgent } from './access.ts'

type Listed = Omit<LoggedDeliveryRow, 'body'>

interface Seen {
  readonly diagnosis?: DiagnosisRecord | null | undefined
  readonly marks?: readonly AttemptMark[] | undefined
}

const deliveryRecord = (row: Listed, { diagnosis = null, marks = [] }: Seen = {}): DeliveryRecord => ({
  id: row.id,
  agentId: row.agentId,
  agent: { id: row.agentId, slug: row.agentSlug, name: row.agentName },
  taskId: row.taskId,
  task: row.taskTitle === null ? null : { id: row.taskId, title: row.taskTitle },
  event: row.event,
  status: row.state,
  attemptCount: row.attempts,
  attempts: marks.map(({ deliveryId: _, ...mark }) => ({ ...mark, createdAt: iso(mark.createdAt) })),
  redeliveryOf: row.redeliveryOf,
  resentAs: row.resentAs,
  createdAt: iso(row.createdAt),
  nextAttemptAt: row.state === 'pending' ? iso(row.nextAt) : null,
  endedAt: isoOrNull(row.endedAt),
  diagnosis,
})

type Asked = Partial<
  Pick<InputOf<Endpoints['listMyDeliveries']>['query'], 'status' | 'event' | 'taskId' | 'since' | 'q' | 'agent'>
>

/** `agent`: an id or a slug. Refuses one that is not the caller's own. */
async function filterOf(ctx: Acting<ReadCtx>, asked: Asked): Promise<DeliveryFilter> {
  const { tx, world, actor } = ctx
  const { agent: named, status = null, event = null, taskId = null, since, q } = asked
  const agent = named === undefined ? null : await visibleAgent(tx, named, actor, world.now())
  if (agent && agent.builderId !== actor.user.id) throw refuse('not_yours', 'agent')
  return {
    ...{ builderId: actor.user.id, agentId: agent?.id ?? null, status, event, taskId, resent: null },
    since: since === undefined ? null : Date.parse(since),
    q: q?.trim() || null,
  }
}

async function pageOf(ctx: Acting<ReadCtx>, filter: DeliveryFilter, span: Paging) {
  const page = rowsOf(span)
  const count = () => countDeliveries(ctx.tx, filter)
  const [rows, counted = count] = await Promise.all([
    deliveriesOf(ctx.tx, filter, ...page),
    isRare(filter) ? undefined : count(),
  ])
  const total = await totalOf(rows, page, counted)
  return { items: await recordsOf(ctx, rows), total }
}

async function recordsOf(ctx: ReadCtx, rows: readonly Listed[]): Promise<DeliveryRecord[]> {
  const found = await diagnosesOf(ctx, rows)
  const all = await attemptMarks(
    ctx.tx,
    rows.map(({ id }) => id),
  )
  const marksOf = (id: string) => all.filter(({ deliveryId }) => deliveryId === id)
  return rows.map(row => deliveryRecord(row, { diagnosis: found.get(row.id), marks: marksOf(row.id) }))
}

const listDeliveries: Verb<'listDeliveries'> = async (ctx, { params, query }) => {
  const { id } = await ownAgentOf(ctx.tx, params.id, ctx.actor.user)
  return pageOf(ctx, { ...(await filterOf(ctx, query)), agentId: id }, query)
}

const listMyDeliveries: Verb<'listMyDeliveries'> = async (ctx, { query }) =>
  pageOf(ctx, await filterOf(ctx, query), query)

const countMyDeliveries: Verb<'countMyDeliveries'> = async (ctx, { query }) =>
  deliveriesByState(ctx.tx, await filterOf(ctx, query))

/** What is wrong with those that were tried in vain, by their ids. */
async function diagnosesOf(ctx: ReadCtx, rows: readonly Listed[]) {
  const { tx, config, recording, faults } = ctx
  const troubled = new Map(
    rows
      .filter(({ state, attempts }) => attempts > 0 && (state !== 'delivered' || recording !== null))
      .map(row => [row.id, row]),
  )
  const last = await lastAttempts(tx, [...troubled.keys()])
  const stories = recording ? new Stories(recording, faults) : undefined
  const about = ({ agentSlug: slug, webhookUrl }: Listed) => aboutAgent(config, { slug, webhookUrl })
  return new Map(
    last.map(row => [row.deliveryId, told(diagnosedAttempt(ctx, row, stories), about(troubled.get(row.deliveryId)!))]),
  )
}

async function logged(q: Reader, agent: ListedAgentRow, id: string): Promise<LoggedDeliveryRow> {
  const row = await deliveryOf(q, agent.id, id)
  if (!row) throw refuse('not_found', 'delivery')
  return row
}

const getDelivery: Verb<'getDelivery'> = async (ctx, { params }) => {
  const { tx, actor, recording, faults } = ctx
  const agent = await ownAgentOf(tx, params.id, actor.user)
  const row = await logged(tx, agent, params.deliveryId)
  const rows = await attemptsAt(tx, row.id)
  const stories = recording && new Stories(recording, faults, row.taskId)
  const attempts = rows.map(one => {
    const exchangeId = stories?.sent({ taskId: row.taskId, deliveryId: row.id, attempt: one.attempt })?.id ?? null
    return { ...one, createdAt: iso(one.createdAt), exchangeId }
  })
  const last = attempts.at(-1)
  return {
    ...deliveryRecord(row, { diagnosis: (await diagnosesOf(ctx, [row])).get(row.id) }),
    request: {
      method: 'POST',
      url: last?.url ?? agent.webhookUrl,
      headers: { 'Content-Type': 'application/json', 'X-Service-Delivery-Id': row.id },
      body: row.body || null,
    },
    answer: answerOf(last),
    attempts,
  }
}

const answerOf = (last: DeliveryDetails['attempts'][number] | undefined): DeliveryDetails['answer'] =>
  last === undefined || last.status === null ? null : { status: last.status, body: last.answer ?? '' }

const redeliver: Verb<'redeliver'> = async (ctx, { params }) => {
  const { tx, actor } = ctx
  const agent = await ownAgentOf(tx, params.id, actor.user)
  const row = await logged(tx, agent, params.deliveryId)
  await tx.lock('tasks', row.taskId)
  return deliveryRecord(await logged(tx, agent, await resend(ctx, row)))
}

/**
 * Adds a copy to the queue of its task, which the caller has locked. Deliveries ahead of it are tried at once instead of at
 * their next attempt. Returns its id.
 */
async function resend(ctx: Acting<Ctx>, { id: of, agentId, taskId, event, body }: LoggedDeliveryRow): Promise<string> {
  const { tx, world, config, actor } = ctx
  const id = world.id('dlv', taskId)
  const now = world.now()
  if (body === '') throw refuse('body_gone', config.keeping.deliveryDays)
  await refuseIfQueueFull(ctx, taskId, agentId)
  await hurry(tx, taskId, agentId, now)
  await reserveTexts(ctx, actor.user.id, webhookWeight(body))
  await insertDelivery(tx, { id, agentId, taskId, event, body, createdAt: now, countedTo: actor.user.id })
  await markRedelivery(tx, id, of)
  tx.afterCommit(() => ctx.webhooks.wake(agentId))
  return id
}

const resendDeliveries: Verb<'resendDeliveries'> = async (ctx, { body: { ids, failed } }) => {
  const { tx, actor } = ctx
  if ((ids === undefined) === (failed === undefined))
    throw invalid({ ids: ['Give ids, or failed with its filters: not both, not neither'] })
  const wanted = ids ?? (await failedOf(ctx, failed!))
  const chosen = await deliveriesCalled(tx, actor.user.id, wanted.slice(0, limits.page.max))
  const missing = ids?.find(id => !chosen.some(row => row.id === id))
  if (missing !== undefined) throw refuse('not_found', `delivery ${missing}`)
  // Always in the same order, so that two requests do not wait for each other.
  for (const taskId of new Set(chosen.map(row => row.taskId).sort())) await tx.lock('tasks', taskId)
  const rows = ids ? chosen : await unsent(ctx, chosen)
  const made: { of: string; id: string | null; refused: string | null }[] = []
  for (const row of rows) made.push({ of: row.id, ...(await resentOrRefused(ctx, row)) })
  const records = await deliveriesCalled(
    tx,
    actor.user.id,
    made.flatMap(({ id }) => id ?? []),
  )
  const byId = new Map(records.map(row => [row.id, deliveryRecord(row)]))
  return {
    items: made.map(({ of, id, refused }) => ({ of, delivery: id === null ? null : byId.get(id)!, refused })),
    more: wanted.length > limits.page.max,
  }
}

/** The ids of one more than can be sent at once. */
async function failedOf(ctx: Acting<Ctx>, asked: Asked): Promise<string[]> {
  const filter = await filterOf(ctx, asked)
  return oldestDeliveries(ctx.tx, { ...filter, status: 'failed', resent: false }, limits.page.max + 1)
}

/** Without those that another request has sent before this one had the locks. */
async function unsent({ tx, actor }: Acting<Ctx>, chosen: readonly LoggedDeliveryRow[]) {
  const rows = await deliveriesCalled(
    tx,
    actor.user.id,
    chosen.map(({ id }) => id),
  )
  return rows.filter(({ resentAs }) => resentAs === null)
}

/** What can't be sent is refused before anything is written for it. */
async function resentOrRefused(ctx: Acting<Ctx>, row: LoggedDeliveryRow) {
  try {
    return { id: await resend(ctx, row), refused: null }
  } catch (error) {
    if (error instanceof Refusal && (error.code === 'body_gone' || error.code === 'queue_full'))
      return { id: null, refused: error.message }
    throw error
  }
}

export const deliveryVerbs = {
  listDeliveries,
  listMyDeliveries,
  countMyDeliveries,
  getDelivery,
  redeliver,
  resendDeliveries,
}
