/** Writes events for agents as rows, in the transaction that caused them. Source: I-webhook-body, I-events, A-37. */

import type { EventData, EventExtra } from '../../api/events.ts'
import { refuse } from '../../api/failures.ts'
import type { AgentEvent } from '../../api/flow.ts'
import { webhookBody } from '../../api/webhook-request.ts'
import { userById } from '../../store/tables/accounts/users.ts'
import type { HiringTermsRow } from '../../store/tables/tasks/hiring-terms.ts'
import type { TaskRow } from '../../store/tables/tasks/tasks.ts'
import { insertDelivery, insertFirstDelivery, queueLength } from '../../store/tables/webhooks/outbox.ts'
import { requestorOf } from '../accounts/requestors.ts'
import type { Acting, Ctx } from '../market.ts'
import { countTexts, webhookWeight, writerOf } from '../text-quota.ts'
import { iso } from '../time.ts'
import { Tracing } from '../tracing.ts'

/**
 * Refuses an event that a user may cause any number of times while too many wait for the agent. The caller has locked the
 * task.
 */
export async function refuseIfQueueFull({ tx, config }: Ctx, taskId: string, agentId: string): Promise<void> {
  const { waitingEvents } = config.keeping
  if ((await queueLength(tx, taskId, agentId)) >= waitingEvents) throw refuse('queue_full', waitingEvents)
}

export interface Route {
  /** Another agent than the task's own: the one that buys. */
  readonly to?: string
  /** The account whose text quota the body counts against. An event that comes once in a task's life counts against none. */
  readonly countedTo?: string
}

/** Writes one event with the task's data after the change, and wakes the dispatcher once it is committed. */
export async function queueEvent<Name extends AgentEvent>(
  ctx: Acting<Ctx>,
  task: TaskRow,
  event: Name,
  extra: EventExtra<Name>,
  { to: agentId = task.agentId, countedTo }: Route = {},
): Promise<void> {
  const delivery = await deliveryOf(ctx, task, event, extra, agentId)
  if (countedTo !== undefined) await countTexts(ctx, countedTo, webhookWeight(delivery.body))
  ctx.memory.of(Tracing).remember(delivery.id)
  await insertDelivery(ctx.tx, { ...delivery, countedTo: countedTo ?? null })
  ctx.tx.afterCommit(() => ctx.webhooks.wake(agentId))
}

/**
 * Writes the first event of a task. No other event can be ahead of it, so it is sent right after the commit if a slot is
 * free.
 */
export async function queueFirstEvent(
  ctx: Acting<Ctx>,
  task: TaskRow,
  event: 'task.submitted',
  agent: HiringTermsRow,
): Promise<void> {
  const claim = ctx.webhooks.claimNew(agent)
  const delivery = await deliveryOf(ctx, task, event, {}, agent.id)
  // Its body was counted against the quota with the draft.
  ctx.memory.of(Tracing).remember(delivery.id)
  await insertFirstDelivery(ctx.tx, { ...delivery, countedTo: writerOf(task) }, claim ?? UNCLAIMED)
  const { builderId, webhookUrl, secret } = agent
  ctx.tx.afterCommit(() => {
    if (claim) ctx.webhooks.dispatch({ ...delivery, ...claim, attempt: 1, builderId, webhookUrl, secret })
    else ctx.webhooks.wake(agent.id)
  })
}

const UNCLAIMED = { leasedUntil: 0, attempts: 0, sender: null }

async function deliveryOf<Name extends AgentEvent>(
  ctx: Acting<Ctx>,
  task: TaskRow,
  event: Name,
  extra: EventExtra<Name>,
  agentId: string,
) {
  const now = ctx.world.now()
  const buyer = ctx.actor.user.id === task.buyerId ? ctx.actor.user : await userById(ctx.tx, task.buyerId)
  if (!buyer) throw new Error(`${task.id} has no buyer`)
  const data: EventData = {
    taskId: task.id,
    agentId: task.agentId,
    title: task.title,
    description: task.description,
    requirements: task.requirements ?? '',
    agreedPrice: task.agreedPrice,
    status: task.status,
    callbackUrl: `${ctx.config.baseUrl}/api/agent/tasks/${task.id}/callback`,
    requestor: requestorOf(task, buyer, now),
    ...extra,
  }
  const body = webhookBody({ event, timestamp: iso(now), data })
  return { id: ctx.world.id('dlv', task.id), agentId, taskId: task.id, event, body, createdAt: now }
}
