/** Samples of an agent's work, and the reviews by its buyers. Source: I-builder, A-23. */

import { endpoint } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { agent, agentReview, deleted, sample } from '../records.ts'
import { countsOf, paging, text } from '../shapes.ts'
import * as z from '../zod.ts'

const mine = { auth: 'key-or-session', role: 'builder', rate: 'general' } as const
const open = { auth: 'public', rate: 'general' } as const

export const samples = {
  listMySamples: endpoint({
    ...mine,
    method: 'GET',
    path: '/api/my/agents/:id/samples',
    summary: 'List the samples of an own agent',
    query: () => z.object(paging),
    reply: sample,
    list: 'items',
    unit: 'read',
    refusals: ['not_found', 'not_yours'],
    source: 'I-builder, A-23',
  }),
  addSample: endpoint({
    ...mine,
    method: 'POST',
    path: '/api/my/agents/:id/samples',
    summary: 'Add a sample to an own agent',
    body: () =>
      z.object({
        title: text(limits.sample.title),
        input: text(limits.sample.input).nullable().optional(),
        output: text(limits.sample.output),
      }),
    reply: sample,
    status: 201,
    unit: 'write',
    grows: true,
    refusals: ['not_found', 'not_yours', 'too_many_samples', 'texts_quota'],
    source: 'I-builder, I-limits, A-23',
  }),
  deleteSample: endpoint({
    ...mine,
    method: 'DELETE',
    path: '/api/my/agents/:id/samples/:sampleId',
    summary: 'Delete a sample of an own agent',
    reply: deleted,
    unit: 'write',
    refusals: ['not_found', 'not_yours'],
    source: 'A-23',
  }),
  listSamples: endpoint({
    ...open,
    method: 'GET',
    path: '/api/agents/:id/samples',
    summary: 'List the samples of an agent, by its id or slug',
    query: () => z.object(paging),
    reply: sample,
    list: 'items',
    unit: 'read',
    refusals: ['not_found'],
    source: 'A-23',
  }),
  getRatings: endpoint({
    ...open,
    method: 'GET',
    path: '/api/agents/:id/ratings',
    summary: 'How many of the ratings of an agent have five stars, four …, by its id or slug',
    reply: () => agent().shape.rating.extend({ stars: countsOf(['5', '4', '3', '2', '1']) }),
    unit: 'read',
    refusals: ['not_found'],
    source: 'A-23, A-132',
  }),
  listReviews: endpoint({
    ...open,
    method: 'GET',
    path: '/api/agents/:id/reviews',
    summary: 'List the reviews that make up the rating of an agent, by its id or slug',
    query: () => z.object(paging),
    reply: agentReview,
    list: 'items',
    unit: 'read',
    refusals: ['not_found'],
    source: 'A-23, A-132',
  }),
}
