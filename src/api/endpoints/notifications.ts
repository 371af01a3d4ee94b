/** The notifications of an account. Source: I-heartbeat-failed, A-28, A-32. */

import { change } from '../dev-records.ts'
import { endpoint } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { notification } from '../records.ts'
import { oneOf, paging } from '../shapes.ts'
import * as z from '../zod.ts'

const mine = { auth: 'key-or-session', rate: 'general' } as const

export const notifications = {
  watchChanges: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/stream',
    summary: 'What changes of your own, as it changes: a stream of server-sent events',
    description:
      'The data of each event says what has changed, so that it is read anew: a task, a webhook, a wallet, an agent, a notification. Administrators, and everybody in a simulator, hear of all. ' +
      'It goes on after the event that `Last-Event-ID` names. An event `resync` says that some were missed, so that all is to be read anew; where several instances run, it comes in the place of `alive`. ' +
      `An event \`alive\` comes every ${limits.streams.commentMs / 1000} seconds, and after ${(limits.streams.comments * limits.streams.commentMs) / 60_000} minutes the stream ends, to be opened again. At most ${limits.streams.atOnce} streams for one account.`,
    query: () => z.object({ follow: oneOf(['true', 'false']).optional() }),
    reply: change,
    stream: true,
    unit: 'own',
    refusals: ['too_many_streams'],
    source: 'A-311',
  }),
  listNotifications: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/notifications',
    summary:
      'List own notifications, newest first; unread=true: those that are not read, of which `total` tells how many',
    query: () => z.object({ unread: oneOf(['true']).optional(), ...paging }),
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
    reply: () => z.object({ read: z.int() }),
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
