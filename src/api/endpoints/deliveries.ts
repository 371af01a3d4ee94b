/** The delivery log: what was sent to agents, what they answered, and redelivery. Source. */

import { endpoint } from '../endpoint.ts'
import { agentEvents } from '../flow.ts'
import { limits } from '../limits.ts'
import { delivery, deliveryDetails, deliveryStates } from '../records.ts'
import { countsOf, id, list, moment, oneOf, paging, text } from '../shapes.ts'
import { grouped } from '../spans.ts'
import * as z from '../zod.ts'

const mine = { auth: 'key-or-session', role: 'builder', rate: 'general', refusals: ['not_found', 'not_yours'] } as const

const which = {
  event: oneOf(agentEvents).optional(),
  taskId: id().optional(),
  /** The oldest that is shown. */
  since: moment().optional(),
}
const search = { ...which, q: text(limits.search.query).optional() }
const status = oneOf(deliveryStates).optional()
const ofOneAgent = { agent: id().optional() }

const description = `Filters look through the newest ${grouped(limits.page.reach)}, an equal part of them of each agent; status=failed finds all. q: what the title of the task contains, or an id.`

export const deliveries = {
  listDeliveries: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents/:id/deliveries',
    summary: 'List the webhooks of an own agent, newest first',
    description,
    query: () => z.object({ status, ...search, ...paging }),
    reply: delivery,
    list: 'items',
    unit: 'read',
    source: 'A-28',
  }),
  listMyDeliveries: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/deliveries',
    summary: 'List the webhooks of all own agents, newest first',
    description: `${description} agent: an id or a slug.`,
    query: () => z.object({ status, ...search, ...ofOneAgent, ...paging }),
    reply: delivery,
    list: 'items',
    unit: 'read',
    source: 'A-28',
  }),
  countMyDeliveries: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/deliveries/counts',
    summary: 'How many webhooks of own agents are in each state',
    description,
    query: () => z.object({ ...search, ...ofOneAgent }),
    reply: () => countsOf(deliveryStates),
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
  resendDeliveries: endpoint({
    ...mine,
    refusals: [...mine.refusals, 'texts_quota'],
    method: 'POST',
    path: '/api/my/deliveries/resend',
    summary: 'Send many webhooks again: those with these ids, or those that failed and were not resent since',
    description: `The oldest first, at most ${limits.page.max} with one request; while \`more\` is true, send it again. One that can't be sent says why in \`refused\`, and the others are sent.`,
    body: () =>
      z.object({
        ids: list(id(), [1, limits.page.max], 'ids').optional(),
        failed: z.object({ ...which, ...ofOneAgent }).optional(),
      }),
    example: { failed: { event: 'task.submitted' } },
    reply: () =>
      z.object({
        items: z.array(z.object({ of: z.string(), delivery: delivery().nullable(), refused: z.string().nullable() })),
        more: z.boolean(),
      }),
    unit: 'write',
    grows: true,
    source: 'A-28',
  }),
}
