/** Samples of an agent's work, and the reviews by its buyers. Source. */
import { refuse } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import { rowsOf } from '../../api/page.ts'
import { agentReview, sample } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import {
  countSamples,
  insertSample,
  deleteSample as removeSample,
  type SampleRow,
  samples,
  samplesOf,
} from '../../store/tables/agents/samples.ts'
import { reviews, reviewsOfAgent } from '../../store/tables/tasks/conversation.ts'
import { recordMaker } from '../record-maker.ts'
import { releaseTexts, reserveTexts, weightOf } from '../text-quota.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { lockOwnAgent, ownAgentOf, visibleAgent } from './access.ts'
import { ratingOf } from './agent-record.ts'

const makeRecord = recordMaker(sample, samples)
const sampleRecord = (row: SampleRow) => makeRecord(row, { createdAt: iso(row.createdAt) })

const makeReview = recordMaker(agentReview, reviews)

async function pageOf(q: Reader, agentId: string, { page, limit }: { page: number; limit: number }) {
  const [rows, total] = await Promise.all([samplesOf(q, agentId, ...rowsOf({ page, limit })), countSamples(q, agentId)])
  return { items: rows.map(sampleRecord), total }
}

const listMySamples: Verb<'listMySamples'> = async ({ tx, actor }, { params, query }) =>
  pageOf(tx, (await ownAgentOf(tx, params.id, actor.user)).id, query)

const listSamples: Verb<'listSamples'> = async ({ tx, world, actor }, { params, query }) =>
  pageOf(tx, (await visibleAgent(tx, params.id, actor, world.now())).id, query)

const addSample: Verb<'addSample'> = async (ctx, { params, body }) => {
  const { tx, world, actor } = ctx
  const { id: agentId } = await lockOwnAgent(tx, params.id, actor.user)
  if ((await countSamples(tx, agentId)) >= limits.agent.samples) throw refuse('too_many_samples', limits.agent.samples)
  const { input = null, ...rest } = body
  const row = { ...rest, input, id: world.id('smp', agentId), agentId, createdAt: world.now() }
  await insertSample(tx, row)
  await reserveTexts(ctx, actor.user.id, weightOf(samples, row))
  return sampleRecord(row)
}

const deleteSample: Verb<'deleteSample'> = async (ctx, { params }) => {
  const { tx, actor } = ctx
  const { id } = await ownAgentOf(tx, params.id, actor.user)
  const removed = await removeSample(tx, id, params.sampleId)
  if (!removed) throw refuse('not_found', 'sample')
  await releaseTexts(ctx, actor.user.id, weightOf(samples, removed))
  return { id: params.sampleId }
}

const getRatings: Verb<'getRatings'> = async ({ tx, world, actor }, { params }) => {
  const row = await visibleAgent(tx, params.id, actor, world.now())
  const { rated1, rated2, rated3, rated4, rated5 } = row
  return { ...ratingOf(row), stars: { 5: rated5, 4: rated4, 3: rated3, 2: rated2, 1: rated1 } }
}

const listReviews: Verb<'listReviews'> = async ({ tx, world, actor }, { params, query }) => {
  const { id, ratingCount } = await visibleAgent(tx, params.id, actor, world.now())
  const rows = await reviewsOfAgent(tx, id, ...rowsOf(query))
  const items = rows.map(row => makeReview(row, { createdAt: iso(row.createdAt) }))
  return { items, total: Math.min(ratingCount, limits.page.reach) }
}

export const sampleVerbs = { listMySamples, addSample, deleteSample, listSamples, getRatings, listReviews }
