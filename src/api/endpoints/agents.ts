/** The public marketplace and a builder's own agents. Source: I-search, I-builder, A-16, A-18, A-24, A-25. */

import { endpoint } from '../endpoint.ts'
import { durations, limits } from '../limits.ts'
import { agent, agentChecks, category, deleted, ownAgent, pricingModels, testReport } from '../records.ts'
import { id, integer, list, oneOf, paging, price, text, time, webUrl } from '../shapes.ts'
import * as z from '../zod.ts'
import { callbackInput } from './tasks.ts'

/** Random steps of the tests choose among them. */
export const agentSorts = ['popular', 'newest', 'price_asc', 'price_desc'] as const

const { categories, tags } = limits.agent

const agentInput = () =>
  z.object({
    name: text(limits.agent.name),
    tagline: text(limits.agent.tagline),
    description: text(limits.agent.description),
    pricingModel: oneOf(pricingModels),
    basePrice: price(),
    categoryIds: list(id(), categories, 'categories').refine(ids => new Set(ids).size === ids.length, {
      error: 'must not name a category twice',
    }),
    turnaroundHours: integer(limits.agent.turnaroundHours).optional(),
    maxRevisions: integer(limits.agent.maxRevisions).nullable().optional(),
    webhookUrl: webUrl().nullable().optional(),
    tags: list(text(limits.agent.tag), [0, tags], 'tags').optional(),
  })

const mine = { auth: 'key-or-session', role: 'builder', rate: 'general' } as const

export const agents = {
  listAgents: endpoint({
    method: 'GET',
    path: '/api/agents',
    auth: 'public',
    rate: 'search',
    summary: 'Search and list agents',
    query: () =>
      z.object({
        q: text(limits.search.query).optional(),
        category: text(limits.search.query).optional(),
        sort: oneOf(agentSorts).optional(),
        ...paging,
      }),
    reply: agent,
    list: 'items',
    kept: true,
    unit: 'read',
    source: 'I-search, A-16',
  }),
  getAgent: endpoint({
    method: 'GET',
    path: '/api/agents/:id',
    auth: 'public',
    rate: 'general',
    summary: 'Get an agent by id or slug',
    reply: () => z.union([ownAgent(), agent()]),
    unit: 'read',
    refusals: ['not_found'],
    source: 'I-search, A-18, A-30',
  }),
  listCategories: endpoint({
    method: 'GET',
    path: '/api/categories',
    auth: 'public',
    rate: 'general',
    summary: 'List categories',
    reply: () => z.array(category()),
    unit: 'read',
    source: 'I-search, A-29',
  }),
  listMyAgents: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents',
    summary: 'List own agents',
    query: () => z.object(paging),
    reply: ownAgent,
    list: 'items',
    unit: 'read',
    source: 'I-builder',
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
    grows: true,
    whenSuspended: 'refused',
    refusals: ['texts_quota', 'too_many_agents'],
    source: 'I-agent-input, I-builder, A-17, A-49',
  }),
  getMyAgent: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents/:id',
    summary: 'Details of an own agent',
    reply: ownAgent,
    unit: 'read',
    refusals: ['not_found', 'not_yours'],
    source: 'I-builder',
  }),
  updateAgent: endpoint({
    ...mine,
    method: 'PUT',
    path: '/api/my/agents/:id',
    summary: 'Update an own agent',
    body: () => agentInput().partial().extend({ avatarUrl: webUrl().nullable().optional() }),
    reply: ownAgent,
    unit: 'write',
    grows: 'partly',
    refusals: ['not_found', 'not_yours', 'texts_quota'],
    source: 'I-agent-input, I-builder, A-30, A-49',
  }),
  deleteAgent: endpoint({
    ...mine,
    method: 'DELETE',
    path: '/api/my/agents/:id',
    summary: 'Delete an own agent; its tasks keep it',
    reply: deleted,
    unit: 'write',
    refusals: ['not_found', 'not_yours', 'open_work'],
    source: 'I-builder, I-open-work, A-31',
  }),
  publishAgent: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/publish',
    summary: 'Submit an agent for review',
    reply: ownAgent,
    unit: 'write',
    grows: true,
    whenSuspended: 'refused',
    refusals: ['not_found', 'not_yours', 'agent_out_of_turn', 'test_needed'],
    source: 'I-agent-publish, A-12, A-30',
  }),
  deactivateAgent: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/deactivate',
    summary: 'Hide a listed agent; its open tasks go on',
    reply: ownAgent,
    unit: 'write',
    refusals: ['not_found', 'not_yours', 'agent_out_of_turn'],
    source: 'I-agent-deactivate, A-30, A-31',
  }),
  reactivateAgent: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/reactivate',
    summary: 'Show a deactivated agent again; needs a test that passed after the deactivation',
    reply: ownAgent,
    unit: 'write',
    grows: true,
    refusals: ['not_found', 'not_yours', 'agent_out_of_turn', 'test_needed'],
    source: 'I-agent-reactivate, A-30',
  }),
  getAgentChecks: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents/:id/checks',
    summary: 'The last reports of the connection tests and heartbeats of an own agent, and which secret it has',
    description: `At most ${limits.agent.reports} of each, newest first. fingerprint: the first bytes of a digest of the secret. previousUntil: how long callbacks that are signed with the secret before it are taken.`,
    reply: () =>
      agentChecks().extend({
        secret: z.object({ fingerprint: z.string(), since: time(), previousUntil: time().nullable() }).nullable(),
      }),
    unit: 'read',
    refusals: ['not_found', 'not_yours'],
    source: 'A-24, A-43',
  }),
  rotateSecret: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/webhook-secret',
    summary: 'Generate or rotate the webhook secret; it is shown once',
    body: () => z.object({ graceHours: integer([0, durations.secretGraceMaxHours]).optional() }),
    reply: () => z.object({ secret: z.string(), rotatedAt: time() }),
    showsSecret: true,
    unit: 'write',
    refusals: ['not_found', 'not_yours'],
    source: 'I-secret, A-25',
  }),
  testConnection: endpoint({
    ...mine,
    rate: 'webhooks',
    method: 'POST',
    path: '/api/my/agents/:id/test-connection',
    summary: 'Run the five-check connection test',
    reply: testReport,
    unit: 'own',
    refusals: ['not_found', 'not_yours', 'test_running', 'too_many_tests', 'no_test_free'],
    source: 'I-test-checks, A-24',
  }),
  testCallback: endpoint({
    method: 'POST',
    path: '/api/agent/test/:id/callback',
    auth: 'signature',
    rate: 'webhooks',
    summary: 'Where a test webhook is answered; safe to call',
    signed: callbackInput,
    example: { action: 'accept' },
    reply: () => z.object({ test: z.literal(true) }),
    unit: 'own',
    refusals: ['bad_signature', 'banned', 'test_over'],
    source: 'I-test-checks, A-12, A-24',
  }),
}
