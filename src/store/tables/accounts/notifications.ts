/** Notifications. */

import type { Reader, Tx } from '../../db.ts'
import { bigint, countShown, type NewRow, nullable, type Row, readPage, table, text } from '../table.ts'

export const notifications = table('notifications', {
  id: text(),
  userId: text(),
  type: text(),
  agentId: nullable(text()),
  message: text(),
  /** JSON. */
  data: text(),
  createdAt: bigint(),
  readAt: nullable(bigint()),
})

export type NotificationRow = Row<typeof notifications>

export const insertNotification = (tx: Tx, row: NewRow<typeof notifications>) => notifications.insert(tx, row)

const select = `SELECT ${notifications.all} FROM notifications`

export const notificationById = (q: Reader, id: string) => q.get<NotificationRow>(`${select} WHERE id = $1`, [id])

const ofUser = (isUnread: boolean) => `WHERE user_id = $1 ${isUnread ? 'AND read_at IS NULL' : ''}`

/** One page of an account's notifications, or of those that it has not read, newest first. */
export const notificationsOf = (q: Reader, userId: string, isUnread: boolean, limit: number, offset: number) =>
  readPage<NotificationRow>(q, `${select} ${ofUser(isUnread)} ORDER BY id DESC LIMIT $2 OFFSET $3`, [
    userId,
    limit,
    offset,
  ])

export const countNotifications = (q: Reader, userId: string, isUnread: boolean) =>
  countShown(q, [`FROM notifications ${ofUser(isUnread)}`], [userId])

export const markAllRead = (tx: Tx, userId: string, now: number) =>
  notifications.update(tx, { userId, readAt: null }, { readAt: now })

/** Keeps the time of the first reading. */
export const markRead = (tx: Tx, id: string, now: number) =>
  notifications.update(tx, { id, readAt: null }, { readAt: now })
