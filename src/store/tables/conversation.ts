/** Messages and reviews of tasks, as rows. */

import { columns, type Reader, type Tx } from '../db.ts'
import { countShown } from './shown.ts'

export interface MessageRow {
  id: string
  taskId: string
  senderId: string
  senderRole: 'buyer' | 'agent' | 'system'
  content: string
  createdAt: number
}

export interface ReviewRow {
  id: string
  taskId: string
  agentId: string
  buyerId: string
  rating: number
  comment: string | null
  createdAt: number
}

export const insertMessage = (tx: Tx, message: MessageRow) =>
  tx.run(
    `INSERT INTO messages (id, task_id, sender_id, sender_role, content, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [message.id, message.taskId, message.senderId, message.senderRole, message.content, message.createdAt],
  )

const messageColumns = columns('id', 'taskId', 'senderId', 'senderRole', 'content', 'createdAt')

export const messagesOf = (q: Reader, taskId: string, limit: number, offset: number) =>
  q.all<MessageRow>(`SELECT ${messageColumns} FROM messages WHERE task_id = $1 ORDER BY id LIMIT $2 OFFSET $3`, [
    taskId,
    limit,
    offset,
  ])

export const countMessages = (q: Reader, taskId: string) =>
  countShown(q, ['FROM messages WHERE task_id = $1'], [taskId])

/** Answers 0 if the task has its review. */
export const insertReview = (tx: Tx, review: ReviewRow) =>
  tx.run(
    `INSERT INTO reviews (id, task_id, agent_id, buyer_id, rating, comment, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (task_id) DO NOTHING`,
    [review.id, review.taskId, review.agentId, review.buyerId, review.rating, review.comment, review.createdAt],
  )

const reviewColumns = columns('id', 'taskId', 'agentId', 'buyerId', 'rating', 'comment', 'createdAt')

/** The reviews that count: finished work of others. Source. */
const ofAgent = `FROM reviews r JOIN tasks t ON t.id = r.task_id
  WHERE r.agent_id = $1 AND t.status = 'completed' AND t.buyer_id <> t.builder_id`

/** One page of the reviews that make up an agent's rating, newest first. */
export const reviewsOfAgent = (q: Reader, agentId: string, limit: number, offset: number) =>
  q.all<Omit<ReviewRow, 'taskId' | 'buyerId'>>(
    `SELECT r.id, r.agent_id AS "agentId", r.rating, r.comment, r.created_at AS "createdAt" ${ofAgent}
     ORDER BY r.id DESC LIMIT $2 OFFSET $3`,
    [agentId, limit, offset],
  )

export const countReviewsOfAgent = (q: Reader, agentId: string) => countShown(q, [ofAgent], [agentId])

export const reviewOf = (q: Reader, taskId: string) =>
  q.get<ReviewRow>(`SELECT ${reviewColumns} FROM reviews WHERE task_id = $1`, [taskId])
