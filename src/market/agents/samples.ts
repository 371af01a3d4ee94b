/** Samples of an agent's work, and the reviews by its buyers. Source. */
import { refuse } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import { rowsOf } from '../../api/page.ts'
import type { SampleRecord } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import { countReviewsOfAgent, reviewsOfAgent } from '../../store/tables/conversation.ts'
import {
  countSamples,
  insertSample,
  deleteSample as removeSample,
  type SampleRow,
  samplesOf,
} from '../../store/tables/samples.ts'
import { releaseTexts, reserveTexts, weightOf } from '../text-quota.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { lockOwnAgent, ownAgentOf, visibleAgent } from './access.ts'

const sampleRecord = (row: SampleRow): SampleRecord => ({ ...row, createdAt: iso(row.createdAt) })

async function pageOf(q: Reader, agentId: string, { page, limit }: { page: number; limit: number }) {
  const rows = await samplesOf(q, agentId, ...rowsOf({ page, limit }))
  return { items: rows.map(sampleRecord), total: await countSamples(q, agentId) }
}

const listMySamples: Verb<'listMySamples'> = async ({ tx, actor }, { params, query }) =>
  pageOf(tx, (await ownAgentOf(tx, params.id, actor.user)).id, query)

const listSamples: Verb<'listSamples'> = async ({ tx, world, actor }, { params, query }) =>
  pageOf(tx, (await visibleAgent(tx, params.id, actor, world.now())).id, query)

const weightOfSample = ({ title, input, output }: Pick<SampleRow, 'title' | 'input' | 'output'>) =>
  weightOf(title, input, output)

const addSample: Verb<'addSample'> = async (ctx, { params, body }) => {
  const { tx, world, actor } = ctx
  const { id: agentId } = await lockOwnAgent(tx, params.id, actor.user)
  const { title, input = null, output } = body
  const sample = { id: world.id('smp'), agentId, title, input, output, createdAt: world.now() }
  if ((await insertSample(tx, sample, limits.agent.samples)) === 0)
    throw refuse('too_many_samples', limits.agent.samples)
  await reserveTexts(ctx, actor.user.id, weightOfSample(sample))
  return sampleRecord(sample)
}

const deleteSample: Verb<'deleteSample'> = async (ctx, { params }) => {
  const { tx, actor } = ctx
  const { id } = await ownAgentOf(tx, params.id, actor.user)
  const removed = await removeSample(tx, id, params.sampleId)
  if (!removed) throw refuse('not_found', 'sample')
  await releaseTexts(ctx, actor.user.id, weightOfSample(removed))
  return { id: params.sampleId }
}

const listReviews: Verb<'listReviews'> = async ({ tx, world, actor }, { params, query }) => {
  const { id } = await visibleAgent(tx, params.id, actor, world.now())
  const rows = await reviewsOfAgent(tx, id, ...rowsOf(query))
  const items = rows.map(row => ({ ...row, createdAt: iso(row.createdAt) }))
  return { items, total: await countReviewsOfAgent(tx, id) }
}

export const sampleVerbs = { listMySamples, addSample, deleteSample, listSamples, listReviews }
