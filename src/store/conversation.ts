/** Messages and reviews of tasks, as rows. */
import { columns, type Reader, type Tx } from './db.ts'

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

export const countMessages = async (q: Reader, taskId: string) =>
  (await q.get<{ count: number }>('SELECT COUNT(*) AS count FROM messages WHERE task_id = $1', [taskId]))?.count ?? 0

/** Answers 0 if the task has its review. */
export const insertReview = (tx: Tx, review: ReviewRow) =>
  tx.run(
    `INSERT INTO reviews (id, task_id, agent_id, buyer_id, rating, comment, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (task_id) DO NOTHING`,
    [review.id, review.taskId, review.agentId, review.buyerId, review.rating, review.comment, review.createdAt],
  )

const reviewColumns = columns('id', 'taskId', 'agentId', 'buyerId', 'rating', 'comment', 'createdAt')

export const reviewOf = (q: Reader, taskId: string) =>
  q.get<ReviewRow>(`SELECT ${reviewColumns} FROM reviews WHERE task_id = $1`, [taskId])
