/** The public marketplace and a builder's own agents. Source: section 4 (marketplace, builder), D16, D18, D24, D25. */
import * as z from 'zod'
import { endpoint } from './endpoint.ts'
import { durations, limits } from './limits.ts'
import { agent, category, deleted, ownAgent, testReport } from './records.ts'
import { id, integer, oneOf, paging, price, text, time, webUrl } from './shapes.ts'
import { callbackInput } from './tasks.ts'

export const pricingModels = ['fixed', 'hourly', 'token'] as const
export const agentSorts = ['popular', 'newest', 'price_asc', 'price_desc'] as const

const { categories, tags } = limits.agent
const list = <T extends z.ZodType>(item: T) => z.array(item, { error: 'must be a list' })

const agentInput = z.object({
  name: text(limits.agent.name),
  tagline: text(limits.agent.tagline),
  description: text(limits.agent.description),
  pricingModel: oneOf(pricingModels),
  basePrice: price(),
  categoryIds: list(id())
    .min(categories[0], { error: `must name at least ${categories[0]} category` })
    .max(categories[1], { error: `must name at most ${categories[1]} categories` })
    .refine(ids => new Set(ids).size === ids.length, { error: 'must not name a category twice' }),
  turnaroundHours: integer(limits.agent.turnaroundHours).optional(),
  maxRevisions: integer(limits.agent.maxRevisions).nullable().optional(),
  webhookUrl: webUrl().nullable().optional(),
  tags: list(text(limits.agent.tag))
    .max(tags, { error: `must have at most ${tags} tags` })
    .optional(),
})

const mine = { auth: 'key-or-session', role: 'builder', rate: 'general' } as const

export const agents = {
  listAgents: endpoint({
    method: 'GET',
    path: '/api/agents',
    auth: 'public',
    rate: 'search',
    summary: 'Search and list agents',
    query: z.object({
      q: z
        .string()
        .max(200, { error: 'must have at most 200 characters' })
        .refine(value => !value.includes('\0'), { error: 'must not contain NUL' })
        .optional(),
      category: z
        .string()
        .max(200, { error: 'must have at most 200 characters' })
        .refine(value => !value.includes('\0'), { error: 'must not contain NUL' })
        .optional(),
      sort: oneOf(agentSorts).optional(),
      ...paging,
    }),
    reply: agent,
    list: 'items',
    kept: true,
    unit: 'read',
    source: 'section 4, D16',
  }),
  getAgent: endpoint({
    method: 'GET',
    path: '/api/agents/:id',
    auth: 'public',
    rate: 'general',
    summary: 'Get an agent by id or slug',
    reply: z.union([ownAgent, agent]),
    unit: 'read',
    refusals: ['not_found'],
    source: 'section 4, D18, D30',
  }),
  listCategories: endpoint({
    method: 'GET',
    path: '/api/categories',
    auth: 'public',
    rate: 'general',
    summary: 'List categories',
    reply: z.array(category),
    unit: 'read',
    source: 'section 4, D29',
  }),
  listMyAgents: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents',
    summary: 'List own agents',
    query: z.object(paging),
    reply: ownAgent,
    list: 'items',
    unit: 'read',
    source: 'section 4',
  }),
  createAgent: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents',
    summary: 'Create an agent in draft',
    body: agentInput,
    reply: ownAgent,
    status: 201,
    unit: 'write',
    whenSuspended: 'refused',
    source: 'section 2, section 4, D17',
  }),
  getMyAgent: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents/:id',
    summary: 'Details of an own agent',
    reply: ownAgent,
    unit: 'read',
    refusals: ['not_found', 'not_yours'],
    source: 'section 4',
  }),
  updateAgent: endpoint({
    ...mine,
    method: 'PUT',
    path: '/api/my/agents/:id',
    summary: 'Update an own agent',
    body: agentInput.partial().extend({ avatarUrl: webUrl().nullable().optional() }),
    reply: ownAgent,
    unit: 'write',
    refusals: ['not_found', 'not_yours'],
    source: 'section 2, section 4, D30',
  }),
  deleteAgent: endpoint({
    ...mine,
    method: 'DELETE',
    path: '/api/my/agents/:id',
    summary: 'Delete an own agent; its tasks keep it',
    reply: deleted,
    unit: 'write',
    refusals: ['not_found', 'not_yours', 'open_work'],
    source: 'section 4, section 7, D31',
  }),
  publishAgent: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/publish',
    summary: 'Submit an agent for review',
    reply: ownAgent,
    unit: 'write',
    whenSuspended: 'refused',
    refusals: ['not_found', 'not_yours', 'agent_out_of_turn', 'test_needed'],
    source: 'section 3, D12, D30',
  }),
  deactivateAgent: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/deactivate',
    summary: 'Hide a listed agent; its open tasks go on',
    reply: ownAgent,
    unit: 'write',
    refusals: ['not_found', 'not_yours', 'agent_out_of_turn'],
    source: 'section 3, D30, D31',
  }),
  reactivateAgent: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/reactivate',
    summary: 'Show a deactivated agent again; needs a test that passed after the deactivation',
    reply: ownAgent,
    unit: 'write',
    refusals: ['not_found', 'not_yours', 'agent_out_of_turn', 'test_needed'],
    source: 'section 3, D30',
  }),
  rotateSecret: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/webhook-secret',
    summary: 'Generate or rotate the webhook secret; it is shown once',
    body: z.object({ graceHours: integer([0, durations.secretGraceMaxHours]).optional() }),
    reply: z.object({ secret: z.string(), rotatedAt: time() }),
    showsSecret: true,
    unit: 'write',
    refusals: ['not_found', 'not_yours'],
    source: 'section 5, D25',
  }),
  testConnection: endpoint({
    ...mine,
    rate: 'webhooks',
    method: 'POST',
    path: '/api/my/agents/:id/test-connection',
    summary: 'Run the five-check connection test',
    reply: testReport,
    unit: 'own',
    refusals: ['not_found', 'not_yours', 'test_running'],
    source: 'section 6, D24',
  }),
  testCallback: endpoint({
    method: 'POST',
    path: '/api/agent/test/:id/callback',
    auth: 'signature',
    rate: 'webhooks',
    summary: 'Where a test webhook is answered; safe to call',
    signed: callbackInput,
    example: { action: 'accept' },
    reply: z.object({ test: z.literal(true) }),
    unit: 'own',
    refusals: ['bad_signature', 'banned'],
    source: 'section 6, D12, D24',
  }),
}
