/** Events for agents, written in the transaction that caused them. Source: section 4 (outgoing webhook), section 6, D37. */
import type { EventData, EventExtra } from '../api/events.ts'
import type { AgentEvent } from '../api/flow.ts'
import type { TrustTier } from '../api/records.ts'
import { insertDelivery } from '../store/outbox.ts'
import type { TaskRow } from '../store/tasks.ts'
import { userById } from '../store/users.ts'
import type { World } from '../world/world.ts'
import { trustTierOf } from './accounts.ts'
import type { Acting, Ctx } from './market.ts'
import { iso } from './time.ts'

/** The dispatcher that is told of new events in each running world. */
const bells = new WeakMap<World, (agentId: string) => void>()

/** Has `wake` called after each commit that wrote an event, with the agent it is for. */
export const onEvent = (world: World, wake: (agentId: string) => void) => void bells.set(world, wake)

/** Says that there is something to send to this agent. Call it once the write is committed. */
export const ringBell = (world: World, agentId: string) => bells.get(world)?.(agentId)

/** Writes one event about a task, as it stands after the change, to its agent or to the one that buys. */
export async function tell<Name extends AgentEvent>(
  ctx: Acting<Ctx>,
  task: TaskRow,
  event: Name,
  extra: EventExtra<Name>,
  agentId: string = task.agentId,
): Promise<void> {
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
    requestor: requestorOf(task, trustTierOf(buyer, now)),
    ...extra,
  }
  await insertDelivery(ctx.tx, {
    id: ctx.world.id('dlv'),
    agentId,
    taskId: task.id,
    event,
    body: JSON.stringify({ event, timestamp: iso(now), data }),
    createdAt: now,
  })
  ctx.tx.afterCommit(() => ringBell(ctx.world, agentId))
}

/** A buying agent is named itself, with the trust its payer has earned. Source: section 2 (requestor), D36. */
const requestorOf = ({ buyerId, buyerAgentId }: TaskRow, trustTier: TrustTier): EventData['requestor'] =>
  buyerAgentId === null ? { id: buyerId, type: 'user', trustTier } : { id: buyerAgentId, type: 'agent', trustTier }
