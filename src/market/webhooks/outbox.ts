/** Events for agents, written in the transaction that caused them. Source: I-webhook-body, I-events, A-37. */
import type { EventData, EventExtra } from '../../api/events.ts'
import { refuse } from '../../api/failures.ts'
import type { AgentEvent } from '../../api/flow.ts'
import type { StandingRow } from '../../store/tables/agent-terms.ts'
import { insertDelivery, insertFirstDelivery, queueLength } from '../../store/tables/outbox.ts'
import type { TaskRow } from '../../store/tables/tasks.ts'
import { userById } from '../../store/tables/users.ts'
import type { World } from '../../world/world.ts'
import { requestorOf } from '../accounts/requestors.ts'
import type { Acting, Ctx } from '../market.ts'
import { addTexts, webhookWeight, writerOf } from '../text-quota.ts'
import { iso } from '../time.ts'
import type { ClaimedDelivery } from './attempt.ts'
import type { Hands } from './leases.ts'

/** What sends the events of a running world. */
export interface Outlet {
  /** There is something to send to this agent. */
  wake(agentId: string): void
  /** The agent has another address or secret: what is in hand under the old one is looked at anew. */
  moved(agentId: string): void
  /** How a new event for this address is written as claimed; null if it has to wait for others. */
  claimNew(agent: Pick<StandingRow, 'builderId' | 'webhookUrl'>): ReturnType<Hands['claimNew']> | null
  /** Takes over what was written so, once that is committed. */
  take(delivery: ClaimedDelivery): void
}

const outlets = new WeakMap<World, Outlet>()

/** Has the outlet told, after each commit, what was written. */
export const onEvent = (world: World, outlet: Outlet) => void outlets.set(world, outlet)

/** Says that there is something to send to this agent. Call it once the write is committed. */
export const ringBell = (world: World, agentId: string) => outlets.get(world)?.wake(agentId)

/** Says that this agent's address or secret is another now. Call it once the write is committed. */
export const tellMoved = (world: World, agentId: string) => outlets.get(world)?.moved(agentId)

/** For what somebody may send as often as they like: an agent that does not answer is sent no more. The task is held. */
export async function refuseIfFull({ tx, config }: Ctx, taskId: string, agentId: string): Promise<void> {
  const { waitingEvents } = config.keeping
  if ((await queueLength(tx, taskId, agentId)) >= waitingEvents) throw refuse('queue_full', waitingEvents)
}

export interface Route {
  /** The agent of the task, unless another is named: the one that buys. */
  readonly to?: string
  /** Among whose texts it counts. What comes once in the life of a task counts nowhere, as that bounds it. */
  readonly countedTo?: string
}

/** Writes one event about a task, as it stands after the change. */
export async function tell<Name extends AgentEvent>(
  ctx: Acting<Ctx>,
  task: TaskRow,
  event: Name,
  extra: EventExtra<Name>,
  { to: agentId = task.agentId, countedTo }: Route = {},
): Promise<void> {
  const delivery = await deliveryOf(ctx, task, event, extra, agentId)
  if (countedTo !== undefined) await addTexts(ctx, countedTo, webhookWeight(delivery.body))
  await insertDelivery(ctx.tx, { ...delivery, countedTo: countedTo ?? null })
  ctx.tx.afterCommit(() => ringBell(ctx.world, agentId))
}

/** The first event of a task: as nothing can be before it, it is sent as soon as it is committed, if there is room. */
export async function tellSubmitted(ctx: Acting<Ctx>, task: TaskRow, agent: StandingRow): Promise<void> {
  const outlet = outlets.get(ctx.world)
  const claim = outlet?.claimNew(agent) ?? null
  const delivery = await deliveryOf(ctx, task, 'task.submitted', {}, agent.id)
  // Counted with its draft.
  await insertFirstDelivery(ctx.tx, { ...delivery, countedTo: writerOf(task) }, claim ?? UNCLAIMED)
  const { builderId, webhookUrl, secret } = agent
  ctx.tx.afterCommit(() => {
    if (claim) outlet?.take({ ...delivery, ...claim, attempt: 1, builderId, webhookUrl, secret })
    else outlet?.wake(agent.id)
  })
}

const UNCLAIMED = { leasedUntil: 0, attempts: 0 }

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
  const body = JSON.stringify({ event, timestamp: iso(now), data })
  return { id: ctx.world.id('dlv'), agentId, taskId: task.id, event, body, createdAt: now }
}
