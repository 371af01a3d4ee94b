/** Messages and reviews of tasks. */

import type { MessageRecord } from '../../../api/records.ts'
import type { Reader, Tx } from '../../db.ts'
import { bigint, countShown, integer, nullable, type Row, readPage, table, text, written } from '../table.ts'

export const messages = table('messages', {
  id: text(),
  taskId: text(),
  senderId: text(),
  senderRole: text<MessageRecord['senderRole']>(),
  content: written(),
  createdAt: bigint(),
})

export const reviews = table('reviews', {
  id: text(),
  taskId: text(),
  agentId: text(),
  buyerId: text(),
  rating: integer(),
  comment: nullable(written()),
  createdAt: bigint(),
})

export type MessageRow = Row<typeof messages>
export type ReviewRow = Row<typeof reviews>

export const insertMessage = (tx: Tx, message: MessageRow) => messages.insert(tx, message)

export const messagesOf = (q: Reader, taskId: string, limit: number, offset: number) =>
  readPage<MessageRow>(q, `SELECT ${messages.all} FROM messages WHERE task_id = $1 ORDER BY id LIMIT $2 OFFSET $3`, [
    taskId,
    limit,
    offset,
  ])

export const countMessages = (q: Reader, taskId: string) =>
  countShown(q, ['FROM messages WHERE task_id = $1'], [taskId])

/** Returns 0 if the task has a review already. */
export const insertReview = (tx: Tx, review: ReviewRow) =>
  reviews.insert(tx, review, 'ON CONFLICT (task_id) DO NOTHING')

/** The reviews that count: finished work of others. Source: A-132. */
const ofAgent = `FROM reviews r JOIN tasks t ON t.id = r.task_id
  WHERE r.agent_id = $1 AND t.status = 'completed' AND t.buyer_id <> t.builder_id`

/** The columns of a review that everybody may see. Neither the task nor its buyer is shown. */
const publicly = ['id', 'agentId', 'rating', 'comment', 'createdAt'] as const
type PublicReview = Pick<ReviewRow, (typeof publicly)[number]>

/** One page of the reviews that count for an agent's rating, newest first. */
export const reviewsOfAgent = (q: Reader, agentId: string, limit: number, offset: number) =>
  readPage<PublicReview>(q, `SELECT ${reviews.some(publicly, 'r')} ${ofAgent} ORDER BY r.id DESC LIMIT $2 OFFSET $3`, [
    agentId,
    limit,
    offset,
  ])

export const reviewOf = (q: Reader, taskId: string) =>
  q.get<ReviewRow>(`SELECT ${reviews.all} FROM reviews WHERE task_id = $1`, [taskId])
