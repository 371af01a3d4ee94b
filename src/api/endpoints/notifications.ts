/** The notifications of an account. Source: I-heartbeat-failed, A-28, A-32. */
import * as z from 'zod'
import { endpoint } from '../endpoint.ts'
import { notification } from '../records.ts'
import { oneOf, paging } from '../shapes.ts'

const mine = { auth: 'key-or-session', rate: 'general' } as const

export const notifications = {
  listNotifications: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/notifications',
    summary:
      'List own notifications, newest first; unread=true: those that are not read, of which `total` tells how many',
    query: z.object({ unread: oneOf(['true']).optional(), ...paging }),
    reply: notification,
    list: 'items',
    unit: 'read',
    source: 'A-28',
  }),
  readNotifications: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/notifications/read',
    summary: 'Mark all own notifications as read',
    reply: z.object({ read: z.int() }),
    unit: 'write',
    source: 'A-28',
  }),
  readNotification: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/notifications/:id/read',
    summary: 'Mark an own notification as read',
    reply: notification,
    unit: 'write',
    refusals: ['not_found', 'not_yours'],
    source: 'A-28',
  }),
}
