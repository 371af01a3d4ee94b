/** Lists and ends the sessions of an account. Takes sessions only, because a leaked API key must not sign its owner out. */

import { endpoint } from '../endpoint.ts'
import { deleted } from '../records.ts'
import { paging, time } from '../shapes.ts'
import * as z from '../zod.ts'

const own = { auth: 'session', rate: 'general' } as const

const signedIn = () =>
  z.object({
    id: z.string(),
    createdAt: time(),
    lastSeenAt: time(),
    /** The address of the client that signed in: IPv4, or the /64 network of an IPv6 one. */
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
    /** True for the session that sends this request. */
    current: z.boolean(),
  })

export const sessions = {
  listSessions: endpoint({
    ...own,
    method: 'GET',
    path: '/api/auth/sessions',
    summary: 'List where you are signed in, newest first',
    query: () => z.object(paging),
    reply: signedIn,
    list: 'items',
    unit: 'read',
    source: 'A-195',
  }),
  endSession: endpoint({
    ...own,
    method: 'DELETE',
    path: '/api/auth/sessions/:id',
    summary: 'End one of your sessions',
    reply: deleted,
    unit: 'write',
    refusals: ['not_found', 'not_yours'],
    source: 'A-195',
  }),
  endOtherSessions: endpoint({
    ...own,
    method: 'DELETE',
    path: '/api/auth/sessions',
    summary: 'End every session but this one',
    reply: () => z.object({ ended: z.int() }),
    unit: 'write',
    source: 'A-195',
  }),
}
