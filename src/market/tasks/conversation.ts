/** Messages about a task, and its review. Source: I-tasks, A-20. */

import { refuse } from '../../api/failures.ts'
import { rowsOf } from '../../api/page.ts'
import { message, review } from '../../api/records.ts'
import { totalOf } from '../../store/tables/table.ts'
import {
  countMessages,
  insertMessage,
  insertReview,
  type MessageRow,
  messages,
  messagesOf,
  type ReviewRow,
  reviewOf,
  reviews,
} from '../../store/tables/tasks/conversation.ts'
import { countForAgent } from '../../store/tables/tasks/tasks.ts'
import { ofBuyer } from '../../store/tables/tasks/work-sums.ts'
import { notify } from '../accounts/notifications.ts'
import type { Acting, Ctx } from '../market.ts'
import { recordMaker } from '../record-maker.ts'
import { countTexts, reserveTexts, weightOf } from '../text-quota.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { queueEvent, refuseIfQueueFull } from '../webhooks/outbox.ts'
import { edgeFor, lockedTask, noteStep, visibleTask } from './transitions.ts'

const makeMessage = recordMaker(message, messages)
const messageRecord = (row: MessageRow) => makeMessage(row, { createdAt: iso(row.createdAt) })
const makeReview = recordMaker(review, reviews)
const reviewRecord = (row: ReviewRow) => makeReview(row, { createdAt: iso(row.createdAt) })

/** Writes a message about a task. A buyer's message also goes to the agent as an event. */
export async function sendMessage(ctx: Acting<Ctx>, taskId: string, content: string) {
  const task = await lockedTask(ctx, taskId)
  const edge = edgeFor(ctx.actor, task, 'message')
  // What an agent signs is the agent's, also where its builder is the buyer.
  const event = ctx.actor.via === 'signature' ? undefined : edge.event
  const row: MessageRow = {
    id: ctx.world.id('msg', taskId),
    taskId,
    senderId: ctx.actor.user.id,
    senderRole: event ? 'buyer' : 'agent',
    content,
    createdAt: ctx.world.now(),
  }
  if (event) await refuseIfQueueFull(ctx, taskId, task.agentId)
  await reserveTexts(ctx, row.senderId, weightOf(messages, row))
  await insertMessage(ctx.tx, row)
  await noteStep(ctx, task, { trigger: 'message', by: event ? 'buyer' : 'builder' })
  if (event) await queueEvent(ctx, task, event, { message: content }, { countedTo: row.senderId })
  return messageRecord(row)
}

/** Keeps the reason of a rejection as a message, although the task takes no other message any more. */
export async function keepReason(ctx: Acting<Ctx>, taskId: string, content: string): Promise<void> {
  await countTexts(ctx, ctx.actor.user.id, weightOf(messages, { content }))
  await insertMessage(ctx.tx, {
    id: ctx.world.id('msg', taskId),
    taskId,
    senderId: ctx.actor.user.id,
    senderRole: 'agent',
    content,
    createdAt: ctx.world.now(),
  })
}

const listMessages: Verb<'listMessages'> = async (ctx, { params, query }) => {
  const { tx } = ctx
  const task = await visibleTask(ctx, params.id)
  const span = rowsOf(query)
  const [rows, counted] = await Promise.all([messagesOf(tx, task.id, ...span), countMessages(tx, task.id)])
  return { items: rows.map(messageRecord), total: await totalOf(rows, span, counted) }
}

const getReview: Verb<'getReview'> = async (ctx, { params }) => {
  const task = await visibleTask(ctx, params.id)
  const row = await reviewOf(ctx.tx, task.id)
  if (!row) throw refuse('not_found', 'review')
  return reviewRecord(row)
}

const submitReview: Verb<'submitReview'> = async (ctx, { params, body }) => {
  const task = await lockedTask(ctx, params.id)
  edgeFor(ctx.actor, task, 'review')
  const row: ReviewRow = {
    id: ctx.world.id('rev', task.id),
    taskId: task.id,
    agentId: task.agentId,
    buyerId: task.buyerId,
    rating: body.rating,
    comment: body.comment ?? null,
    createdAt: ctx.world.now(),
  }
  if ((await insertReview(ctx.tx, row)) === 0) throw refuse('already_reviewed')
  await noteStep(ctx, task, { trigger: 'review', by: 'buyer' })
  await reserveTexts(ctx, ctx.actor.user.id, weightOf(reviews, row))
  await ctx.tx.runAll(ofBuyer(task, { ratings: 1, stars: body.rating }))
  if (task.buyerId !== task.builderId) await countForAgent(ctx.tx, task.agentId, { completed: 0, rating: body.rating })
  return reviewRecord(row)
}

/** An administrator writes to both parties, in any state of the task. No webhook: it is for people. */
const adminSendMessage: Verb<'adminSendMessage'> = async (ctx, { params, body }) => {
  const task = await lockedTask(ctx, params.id)
  const row: MessageRow = {
    id: ctx.world.id('msg', task.id),
    taskId: task.id,
    senderId: ctx.actor.user.id,
    senderRole: 'system',
    content: body.content,
    createdAt: ctx.world.now(),
  }
  await reserveTexts(ctx, row.senderId, weightOf(messages, row))
  await insertMessage(ctx.tx, row)
  const { agentId, title } = task
  for (const party of new Set([task.buyerId, task.builderId]))
    await notify(ctx, party, {
      ...{ type: 'administrator_wrote', agentId },
      message: `An administrator writes about the task “${title}”`,
      data: { taskId: task.id, messageId: row.id },
    })
  return messageRecord(row)
}

const sendMessageOfTask: Verb<'sendMessage'> = (ctx, { params, body }) => sendMessage(ctx, params.id, body.content)

export const conversationVerbs = {
  listMessages,
  sendMessage: sendMessageOfTask,
  adminSendMessage,
  getReview,
  submitReview,
}
