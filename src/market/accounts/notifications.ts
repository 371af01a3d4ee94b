/**
 * Notifications: written in the transaction of the change, listed and marked as read by their receiver. Source.
 */
import { refuse } from '../../api/failures.ts'
import { rowsOf } from '../../api/page.ts'
import type { NotificationRecord } from '../../api/records.ts'
import { EventStream } from '../../api/reply.ts'
import {
  countNotifications,
  insertNotification,
  markAllRead,
  markRead,
  type NotificationRow,
  notificationById,
  notificationsOf,
} from '../../store/tables/accounts/notifications.ts'
import { totalOf } from '../../store/tables/table.ts'
import { Changes } from '../changes.ts'
import type { Acting, Ctx } from '../market.ts'
import { iso, isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'
import { queueMail } from './mail-queue.ts'

type Kind = NotificationRecord['type']
type DataOf<K extends Kind> = Extract<NotificationRecord, { type: K }>['data']

export interface News<K extends Kind = Kind> {
  readonly type: K
  readonly agentId: Extract<NotificationRecord, { type: K }>['agentId']
  readonly message: string
  readonly data: DataOf<K>
}

/** Of those that also go out by mail, where there is mail: what an account waits for, and what it would miss. */
const subjects: { readonly [K in Kind]?: (data: DataOf<K>) => string } = {
  webhook_health_failed: () => 'Your agent is hidden: its connection test failed',
  agent_reviewed: ({ decision }) => `Your agent was ${decision}`,
  payment_decided: ({ type, status }) => `Your ${type} was ${status === 'completed' ? 'confirmed' : 'rejected'}`,
}

/** What a mail about a notification says in its subject; null: none is sent. The cast is safe, see `notificationRecord`. */
export const mailSubject = ({ type, data }: { readonly type: string; readonly data: unknown }): string | null =>
  (subjects as Record<string, ((data: unknown) => string) | undefined>)[type]?.(data) ?? null

/** What an administrator has decided. How a simulator furnishes itself is no news. */
export async function notifyOfDecision<K extends Kind>(ctx: Acting<Ctx>, userId: string, news: News<K>): Promise<void> {
  if (ctx.actor.credential !== 'simulator') await notify(ctx, userId, news)
}

/** Notifies one account, in the transaction of the change. */
export async function notify<K extends Kind>(
  ctx: Pick<Ctx, 'tx' | 'world' | 'config' | 'memory'>,
  userId: string,
  news: News<K>,
) {
  const { tx, world } = ctx
  const { type, agentId, message } = news
  const row = { id: world.id('ntf', userId), userId, type, agentId, message, createdAt: world.now() }
  await insertNotification(tx, { ...row, data: JSON.stringify(news.data) })
  const taskId = 'taskId' in news.data ? news.data.taskId : null
  const told = { type: 'notification', agentId, taskId, what: type } as const
  tx.afterCommit(() => ctx.memory.of(Changes).tell([userId], row.createdAt, told))
  if (mailSubject(news) !== null) await queueMail(ctx, 'notification', row.id)
}

/** The cast is safe: `notify` wrote the row, and its types tie the data to the type. */
const notificationRecord = (row: NotificationRow) =>
  ({
    id: row.id,
    type: row.type,
    agentId: row.agentId,
    message: row.message,
    data: JSON.parse(row.data),
    createdAt: iso(row.createdAt),
    readAt: isoOrNull(row.readAt),
  }) as NotificationRecord

const listNotifications: Verb<'listNotifications'> = async ({ tx, actor }, { query }) => {
  const { id } = actor.user
  const isUnread = query.unread === 'true'
  const span = rowsOf(query)
  const [rows, counted] = await Promise.all([
    notificationsOf(tx, id, isUnread, ...span),
    countNotifications(tx, id, isUnread),
  ])
  return { items: rows.map(notificationRecord), total: await totalOf(rows, span, counted) }
}

const readNotification: Verb<'readNotification'> = async ({ tx, world, actor }, { params }) => {
  const row = await notificationById(tx, params.id)
  if (!row) throw refuse('not_found', 'notification')
  if (row.userId !== actor.user.id) throw refuse('not_yours', 'notification')
  const now = world.now()
  await markRead(tx, row.id, now)
  return notificationRecord({ ...row, readAt: row.readAt ?? now })
}

const readNotifications: Verb<'readNotifications'> = async ({ tx, world, actor }) => ({
  read: await markAllRead(tx, actor.user.id, world.now()),
})

/** A stream counts for the account, as all its browsers share what is its own. */
const watchChanges: Verb<'watchChanges'> = async ({ db, config, memory, actor: { user } }, { query: { follow } }) => {
  const feed = memory.of(Changes).feed(user.id, config.mode === 'dev' || user.isAdmin === 1)
  const hints = db.shared ? 'partial' : 'whole'
  return new EventStream({ feed, after: feed.last, follows: follow !== 'false', owner: user.id, hints })
}

export const notificationVerbs = { watchChanges, listNotifications, readNotification, readNotifications }
