/** Notifications, as rows. */

import { columns, type Reader, type Tx } from '../db.ts'
import { countShown } from './shown.ts'

export interface NotificationRow {
  id: string
  userId: string
  type: string
  agentId: string
  message: string
  /** JSON. */
  data: string
  createdAt: number
  readAt: number | null
}

export const insertNotification = (tx: Tx, row: Omit<NotificationRow, 'readAt'>) =>
  tx.run(
    `INSERT INTO notifications (id, user_id, type, agent_id, message, data, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [row.id, row.userId, row.type, row.agentId, row.message, row.data, row.createdAt],
  )

const select = `SELECT ${columns('id', 'userId', 'type', 'agentId', 'message', 'data', 'createdAt', 'readAt')}
  FROM notifications`

export const notificationById = (q: Reader, id: string) => q.get<NotificationRow>(`${select} WHERE id = $1`, [id])

/** One page of an account's notifications, newest first. */
export const notificationsOf = (q: Reader, userId: string, limit: number, offset: number) =>
  q.all<NotificationRow>(`${select} WHERE user_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`, [userId, limit, offset])

export const countNotifications = (q: Reader, userId: string) =>
  countShown(q, ['FROM notifications WHERE user_id = $1'], [userId])

/** The first reading is the one that is kept. */
export const markRead = (tx: Tx, id: string, now: number) =>
  tx.run('UPDATE notifications SET read_at = $2 WHERE id = $1 AND read_at IS NULL', [id, now])
