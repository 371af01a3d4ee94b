/** The delivery log: what was sent to an agent, what it answered, and redelivery. Source. */
import type { DiagnosisRecord } from '../../api/diagnosis/record.ts'
import { refuse } from '../../api/failures.ts'
import { rowsOf } from '../../api/page.ts'
import type { DeliveryDetails, DeliveryRecord } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import type { ListedAgentRow } from '../../store/tables/agents/agents.ts'
import {
  attemptsAt,
  countDeliveries,
  deliveriesOf,
  deliveryOf,
  hurry,
  type LoggedDeliveryRow,
  lastAttempts,
  markRedelivery,
} from '../../store/tables/webhooks/deliveries.ts'
import { insertDelivery } from '../../store/tables/webhooks/outbox.ts'
import type { ReadCtx } from '../market.ts'
import { aboutAgent, diagnosedAttempt, Stories, told } from '../stories.ts'
import { reserveTexts, webhookWeight } from '../text-quota.ts'
import { iso, isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'
import { refuseIfQueueFull } from '../webhooks/outbox.ts'
import { ownAgentOf } from './access.ts'

const deliveryRecord = (row: Omit<LoggedDeliveryRow, 'body'>, diagnosis: DiagnosisRecord | null): DeliveryRecord => ({
  id: row.id,
  agentId: row.agentId,
  taskId: row.taskId,
  event: row.event,
  status: row.state,
  attemptCount: row.attempts,
  redeliveryOf: row.redeliveryOf,
  createdAt: iso(row.createdAt),
  nextAttemptAt: row.state === 'pending' ? iso(row.nextAt) : null,
  endedAt: isoOrNull(row.endedAt),
  diagnosis,
})

const listDeliveries: Verb<'listDeliveries'> = async (ctx, { params, query: { page, limit } }) => {
  const { tx, actor } = ctx
  const agent = await ownAgentOf(tx, params.id, actor.user)
  const rows = await deliveriesOf(tx, agent.id, ...rowsOf({ page, limit }))
  const found = await diagnosesOf(ctx, agent, rows)
  return {
    items: rows.map(row => deliveryRecord(row, found.get(row.id) ?? null)),
    total: await countDeliveries(tx, agent.id),
  }
}

type Listed = Pick<LoggedDeliveryRow, 'id' | 'state' | 'attempts'>

/** What is wrong with those of an agent's deliveries that were tried in vain, by their ids. */
async function diagnosesOf(ctx: ReadCtx, agent: ListedAgentRow, rows: readonly Listed[]) {
  const { tx, config, recording, faults } = ctx
  const troubled = rows.filter(({ state, attempts }) => attempts > 0 && (state !== 'delivered' || recording !== null))
  const last = await lastAttempts(
    tx,
    troubled.map(({ id }) => id),
  )
  const stories = recording ? new Stories(recording, faults) : undefined
  const about = aboutAgent(config, agent)
  return new Map(last.map(row => [row.deliveryId, told(diagnosedAttempt(ctx, row, stories), about)]))
}

async function logged(q: Reader, agent: ListedAgentRow, id: string): Promise<LoggedDeliveryRow> {
  const row = await deliveryOf(q, agent.id, id)
  if (!row) throw refuse('not_found', 'delivery')
  return row
}

const getDelivery: Verb<'getDelivery'> = async (ctx, { params }) => {
  const { tx, actor } = ctx
  const agent = await ownAgentOf(tx, params.id, actor.user)
  const row = await logged(tx, agent, params.deliveryId)
  const rows = await attemptsAt(tx, row.id)
  const attempts = rows.map(attempt => ({ ...attempt, createdAt: iso(attempt.createdAt) }))
  const last = attempts.at(-1)
  return {
    ...deliveryRecord(row, (await diagnosesOf(ctx, agent, [row])).get(row.id) ?? null),
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

/** Adds a copy to the queue of its task. Deliveries ahead of it are tried at once instead of at their next attempt. */
const redeliver: Verb<'redeliver'> = async (ctx, { params }) => {
  const { tx, world, config, actor } = ctx
  const agent = await ownAgentOf(tx, params.id, actor.user)
  const { id: of, agentId, taskId, event, body } = await logged(tx, agent, params.deliveryId)
  const id = world.id('dlv')
  const now = world.now()
  if (body === '') throw refuse('body_gone', config.keeping.deliveryDays)
  await tx.lock('tasks', taskId)
  await refuseIfQueueFull(ctx, taskId, agentId)
  await hurry(tx, taskId, agentId, now)
  await reserveTexts(ctx, actor.user.id, webhookWeight(body))
  await insertDelivery(tx, { id, agentId, taskId, event, body, createdAt: now, countedTo: actor.user.id })
  await markRedelivery(tx, id, of)
  tx.afterCommit(() => ctx.webhooks.wake(agentId))
  return deliveryRecord(await logged(tx, agent, id), null)
}

export const deliveryVerbs = { listDeliveries, getDelivery, redeliver }
