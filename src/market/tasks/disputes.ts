/** Disputes. The buyer of a task opens one, an administrator resolves it. Source: I-task-dispute, A-32. */
import { invalid, refuse } from '../../api/failures.ts'
import type { DisputeOutcome, TaskTrigger } from '../../api/flow.ts'
import { durations } from '../../api/limits.ts'
import { isClearing } from '../../store/tables/money/transfers.ts'
import { reviewOf } from '../../store/tables/tasks/conversation.ts'
import {
  countForAgent,
  insertDispute,
  markDisputed,
  resolveDispute,
  type TaskRow,
} from '../../store/tables/tasks/tasks.ts'
import { ofDispute, ofResolution } from '../../store/tables/tasks/work-sums.ts'
import { type News, notify } from '../accounts/notifications.ts'
import { requireSecondFactor } from '../accounts/second-factor.ts'
import type { Acting, Ctx } from '../market.ts'
import type { Verb } from '../verb.ts'
import { queueEvent } from '../webhooks/outbox.ts'
import { taskRecord } from './task-record.ts'
import { countCompleted } from './tasks.ts'
import { applyEdge, edgeFor, lockedTask, noteStep, reloadTask } from './transitions.ts'

const disputeTask: Verb<'disputeTask'> = async (ctx, { params, body }) => {
  const task = await lockedTask(ctx, params.id)
  const { event } = edgeFor(ctx.actor, task, 'dispute')
  if (task.disputeStatus) throw refuse('already_disputed')
  await refuseLateDispute(ctx, task)
  await open(ctx, task, body.reason)
  await noteStep(ctx, task, { trigger: 'dispute', by: 'buyer' })
  // A builder who hired their own agent knows of the dispute already.
  if (task.builderId !== task.buyerId) await notify(ctx, task.builderId, openedNews(task, body.reason))
  const after = await reloadTask(ctx.tx, task.id)
  await queueEvent(ctx, after, event, { disputeReason: body.reason })
  return taskRecord(after)
}

/** A completed task can be disputed while its window is open and its payment still clears. Whichever ends first counts. */
async function refuseLateDispute(ctx: Ctx, task: TaskRow) {
  if (task.status !== 'completed' || task.completedAt === null) return
  const over = ctx.world.now() >= task.completedAt + durations.disputeWindowMs
  if (over || !(await isClearing(ctx.tx, task.id))) throw refuse('dispute_too_late')
}

async function open(ctx: Acting<Ctx>, task: TaskRow, reason: string) {
  const now = ctx.world.now()
  if ((await markDisputed(ctx.tx, task.id, task.status, now)) === 0) throw refuse('lost_race')
  await insertDispute(ctx.tx, {
    taskId: task.id,
    reason,
    openedAt: now,
    openedFrom: task.status,
    openedBy: ctx.actor.user.id,
  })
  await ctx.tx.runAll(ofDispute(task, ctx.actor.user.id))
}

const resolveTask: Verb<'resolveTask'> = async (ctx, { params, body }) => {
  await requireSecondFactor(ctx)
  let task = await lockedTask(ctx, params.id)
  if (task.disputeStatus === 'resolved' || (task.status === 'completed' && !task.disputed))
    throw refuse('nothing_to_resolve')
  const { outcome, reason = null } = body
  const part = refundOf(task, body.outcome, body.refundAmount)
  const edge = edgeFor(ctx.actor, task, `resolve_${body.outcome}` satisfies TaskTrigger)
  if (!task.disputed) {
    await open(ctx, task, 'Opened by an administrator to settle the task')
    task = await reloadTask(ctx.tx, task.id)
  }
  await applyEdge(ctx, task, edge, part, () => recount(ctx, task, body.outcome))
  const resolution = { outcome, refundAmount: part, outcomeReason: reason, resolvedAt: ctx.world.now() }
  if ((await resolveDispute(ctx.tx, task.id, resolution)) === 0) throw refuse('lost_race')
  await ctx.tx.runAll(ofResolution(task, outcome))
  for (const party of new Set([task.buyerId, task.builderId]))
    await notify(ctx, party, resolvedNews(task, outcome, part, reason))
  return taskRecord(await reloadTask(ctx.tx, task.id))
}

function refundOf(task: TaskRow, outcome: DisputeOutcome, refundAmount: number | undefined): number {
  if (outcome === 'refund') return task.agreedPrice
  if (outcome === 'release') return 0
  if (refundAmount === undefined) throw invalid({ refundAmount: ['is required for a split'] })
  if (refundAmount >= task.agreedPrice) throw refuse('split_amount', task.agreedPrice)
  return refundAmount
}

const openedNews = (task: TaskRow, reason: string): News<'dispute_opened'> => ({
  type: 'dispute_opened',
  agentId: task.agentId,
  message: `The buyer disputes the task “${task.title}”`,
  data: { taskId: task.id, reason },
})

const ending = {
  refund: 'the price goes back to the buyer',
  release: 'the price goes to the builder',
  split: 'the price is split',
} as const

const resolvedNews = (
  task: TaskRow,
  outcome: keyof typeof ending,
  refundAmount: number,
  reason: string | null,
): News<'dispute_resolved'> => ({
  type: 'dispute_resolved',
  agentId: task.agentId,
  message: `The dispute about the task “${task.title}” is resolved: ${ending[outcome]}`,
  data: { taskId: task.id, outcome, refundAmount, reason },
})

/** Corrects the agent's figures: a refunded task no longer counts, and a task that the resolution completes does. */
async function recount(ctx: Ctx, task: TaskRow, outcome: DisputeOutcome): Promise<void> {
  const counted = task.status === 'completed'
  if (outcome !== 'refund') return counted ? undefined : countCompleted(ctx, task, 1)
  if (!counted) return
  await countCompleted(ctx, task, -1)
  const review = await reviewOf(ctx.tx, task.id)
  if (review && task.buyerId !== task.builderId)
    await countForAgent(ctx.tx, task.agentId, { completed: 0, rating: -review.rating })
}

export const disputeVerbs = { disputeTask, resolveTask }
