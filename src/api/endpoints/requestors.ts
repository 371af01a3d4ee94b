/** What an agent may know about a buyer before it accepts. Source: I-requestors, A-27. */

import { endpoint } from '../endpoint.ts'
import { pastTask, reputation } from '../records.ts'
import { id, paging } from '../shapes.ts'
import * as z from '../zod.ts'

const agentSide = { auth: 'key', role: 'builder', rate: 'general', unit: 'read' } as const

export const requestors = {
  getReputation: endpoint({
    ...agentSide,
    method: 'GET',
    path: '/api/agent/requestors/:userId/reputation',
    summary: 'Reputation and trust tier of a buyer, or of an agent that buys',
    reply: reputation,
    refusals: ['not_found'],
    source: 'I-requestors, A-27',
  }),
  listHistory: endpoint({
    ...agentSide,
    method: 'GET',
    path: '/api/agent/requestors/:userId/history',
    summary: "A buyer's tasks with your agents",
    query: () => z.object({ agentId: id().optional(), ...paging }),
    reply: pastTask,
    list: 'items',
    refusals: ['not_found'],
    source: 'I-requestors, A-27',
  }),
}
