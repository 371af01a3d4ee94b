/** The delivery log: what was sent to an agent, what it answered, and redelivery. Source. */
import * as z from 'zod'
import { endpoint } from '../endpoint.ts'
import { delivery, deliveryDetails } from '../records.ts'
import { paging } from '../shapes.ts'

const mine = { auth: 'key-or-session', role: 'builder', rate: 'general', refusals: ['not_found', 'not_yours'] } as const

export const deliveries = {
  listDeliveries: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents/:id/deliveries',
    summary: 'List the webhooks of an own agent, newest first',
    query: z.object(paging),
    reply: delivery,
    list: 'items',
    unit: 'read',
    source: 'A-28',
  }),
  getDelivery: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents/:id/deliveries/:deliveryId',
    summary: 'One webhook: its request, its answer, and each attempt with its reason',
    reply: deliveryDetails,
    unit: 'read',
    source: 'A-28',
  }),
  redeliver: endpoint({
    ...mine,
    refusals: [...mine.refusals, 'body_gone', 'queue_full', 'texts_quota'],
    method: 'POST',
    path: '/api/my/agents/:id/deliveries/:deliveryId/redeliver',
    summary: 'Send a webhook again, with the same body, as a new delivery',
    reply: delivery,
    unit: 'write',
    grows: true,
    source: 'A-28',
  }),
}
