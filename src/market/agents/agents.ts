/**
 * The public marketplace, a builder's own agents, and their review. Source: I-agent-states, I-builder, A-13, A-16–A-18,
 *
 */
import { invalid, refuse } from '../../api/failures.ts'
import { durations, limits } from '../../api/limits.ts'
import type { TestReport } from '../../api/records.ts'
import type { Reader } from '../../store/db.ts'
import { reportsOf } from '../../store/tables/agents/agent-tests.ts'
import {
  type AgentPatch,
  type AgentRow,
  agents,
  agentsByStatus,
  agentsOfBuilder,
  countOfBuilder,
  insertAgent,
  publicAgents,
  slugTaken,
  updateAgentRow,
} from '../../store/tables/agents/agents.ts'
import { allCategories, setCategories } from '../../store/tables/agents/categories.ts'
import type { World } from '../../world/world.ts'
import { secretFingerprint } from '../exchange.ts'
import type { Acting, Ctx } from '../market.ts'
import { refuseWhenFull } from '../permission.ts'
import { defined } from '../record-maker.ts'
import { seal, unseal } from '../sealing.ts'
import { reserveTexts, weightOf } from '../text-quota.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { keepPreviousSecret, makeSecret } from '../webhooks/secrets.ts'
import { lockOwnAgent, ownAgentOf, presentAgent, visibleAgent } from './access.ts'
import { adminAgentRecord, agentRecord, ownAgentRecord, recordOf, recordsOf } from './agent-record.ts'
import { publicPage } from './listing-cache.ts'
import { indexAgent, numberedSlug, prefixes, slugBase, terms } from './search-words.ts'
import { reloadAgent } from './states.ts'

const listAgents: Verb<'listAgents'> = async (ctx, { query }) => {
  const { tx, world } = ctx
  const { q = '', category = '', sort = 'popular', page, limit } = query
  const asked = prefixesOf(q)
  const categoryId = category === '' ? null : await categoryNamed(tx, category)
  if (asked === null || categoryId === undefined) return { items: [], total: 0 }
  const now = world.now()
  const search = { prefixes: asked, categoryId, sort, page, limit }
  const kept = await publicPage(ctx, now, search)
  if (kept) return kept
  const { rows, total } = await publicAgents(tx, now, search)
  return { items: await recordsOf(ctx, rows, agentRecord), total }
}

/** Returns null for a query without any word, which finds nothing. A blank query finds all. */
function prefixesOf(q: string): string[] | null {
  const asked = prefixes(q)
  if (asked.length > limits.search.words)
    throw invalid({ q: [`must have at most ${limits.search.words} different words`] })
  return asked.length === 0 && q.trim() !== '' ? null : asked
}

async function categoryNamed(q: Reader, nameOrSlug: string): Promise<string | undefined> {
  const wanted = nameOrSlug.toLowerCase()
  const found = (await allCategories(q)).find(({ name, slug }) => name.toLowerCase() === wanted || slug === wanted)
  return found?.id
}

const getAgent: Verb<'getAgent'> = async (ctx, { params }) => {
  const { tx, world, actor } = ctx
  const row = await visibleAgent(tx, params.id, actor, world.now())
  return actor?.user.id === row.builderId ? recordOf(ctx, row, ownAgentRecord) : recordOf(ctx, row, agentRecord)
}

const listMyAgents: Verb<'listMyAgents'> = async (ctx, { query }) => {
  const { rows, total } = await agentsOfBuilder(ctx.tx, ctx.actor.user.id, query)
  return { items: await recordsOf(ctx, rows, ownAgentRecord), total }
}

const getMyAgent: Verb<'getMyAgent'> = async (ctx, { params }) =>
  recordOf(ctx, await ownAgentOf(ctx.tx, params.id, ctx.actor.user), ownAgentRecord)

const createAgent: Verb<'createAgent'> = async (ctx, { body }) => {
  const { tx, world, actor } = ctx
  const now = world.now()
  const { categoryIds, tags = [], turnaroundHours = limits.agent.turnaroundHoursDefault, ...plain } = body
  await checkCategories(tx, categoryIds)
  const row = {
    ...defined(plain),
    id: world.id('agt', actor.user.id),
    builderId: actor.user.id,
    turnaroundHours,
    tags: JSON.stringify(tags),
    status: 'draft',
    createdAt: now,
    updatedAt: now,
  } as const
  // This locks the account's usage row, so no other agent of the account is created before the count below.
  await reserveTexts(ctx, row.builderId, weightOf(agents, row))
  await refuseTooMany(ctx)
  // If another agent takes the slug at the same moment, the next one is tried.
  while ((await insertAgent(tx, { ...row, slug: await freeSlug(tx, world, body.name) })) === 0);
  await setCategories(tx, row.id, categoryIds)
  return reloadAgent(ctx, row.id)
}

/**
 * Whether the texts grow. The URL is left out: it may change even when the database is full, because open work needs one
 * that responds.
 */
const isLonger = (row: AgentRow, next: AgentRow) =>
  weightOf(agents, { ...next, webhookUrl: row.webhookUrl }) > weightOf(agents, row) ||
  terms(next.name, next.description).length > terms(row.name, row.description).length

async function refuseTooMany({ tx, config, actor }: Acting<Ctx>) {
  const { agents: most } = config.keeping
  if ((await countOfBuilder(tx, actor.user.id)) >= most) throw refuse('too_many_agents', most)
}

async function checkCategories(q: Reader, ids: readonly string[]) {
  const known = new Set((await allCategories(q)).map(row => row.id))
  const unknown = ids.filter(id => !known.has(id))
  if (unknown.length > 0) throw invalid({ categoryIds: unknown.map(id => `names an unknown category: ${id}`) })
}

async function freeSlug(q: Reader, world: World, name: string): Promise<string> {
  const base = slugBase(name) || `agent-${world.bytes(3).toString('hex')}`
  const isTaken = (count: number) => slugTaken(q, numberedSlug(base, count))
  // A binary search: with thousands of agents of one name, the next one must not need thousands of queries.
  let [taken, free] = [0, 1]
  while (await isTaken(free)) [taken, free] = [free, 2 * free]
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2)
    if (await isTaken(middle)) taken = middle
    else free = middle
  }
  return numberedSlug(base, free)
}

const updateAgent: Verb<'updateAgent'> = async (ctx, { params, body }) => {
  const { tx, world, actor } = ctx
  const row = await lockOwnAgent(tx, params.id, actor.user)
  const { categoryIds, tags, ...plain } = body
  if (categoryIds) await checkCategories(tx, categoryIds)
  const patch: AgentPatch = { ...defined(plain), updatedAt: world.now() }
  if (tags) patch.tags = JSON.stringify(tags)
  const next = { ...row, ...patch }
  refuseWhenFull(ctx.db, () => isLonger(row, next))
  await reserveTexts(ctx, row.builderId, weightOf(agents, next) - weightOf(agents, row))
  // The last test passed at another URL.
  if (body.webhookUrl !== undefined && body.webhookUrl !== row.webhookUrl) {
    patch.lastPassAt = null
    tx.afterCommit(() => ctx.webhooks.targetChanged(row.id))
  }
  await updateAgentRow(tx, row.id, patch)
  if (categoryIds) await setCategories(tx, row.id, categoryIds)
  const { name = row.name, description = row.description } = body
  if (name !== row.name || description !== row.description) await indexAgent(tx, { ...row, name, description })
  return reloadAgent(ctx, row.id)
}

const rotateSecret: Verb<'rotateSecret'> = async (ctx, { params, body }) => {
  const row = await lockOwnAgent(ctx.tx, params.id, ctx.actor.user)
  const secret = makeSecret(ctx.world)
  const now = await saveSecret(ctx, row, secret, body.graceHours)
  return { secret, rotatedAt: iso(now) }
}

type Saving = Pick<Ctx, 'tx' | 'world' | 'config' | 'webhooks'>

/** Replaces the secret, which voids the last test. Returns when that was. */
export async function saveSecret(ctx: Saving, row: AgentRow, secret: string, graceHours = 0): Promise<number> {
  const { tx, world, config, webhooks } = ctx
  const now = world.now()
  const graceMs = graceHours * durations.hourMs
  const keptOld = graceMs > 0 && row.secret !== null
  await updateAgentRow(tx, row.id, {
    secret: seal(world, config, row.id, secret),
    secretRotatedAt: now,
    oldSecret: keptOld ? row.secret : null,
    oldSecretUntil: keptOld ? now + graceMs : null,
    lastPassAt: null,
    updatedAt: now,
  })
  if (config.mode === 'dev' && row.secret !== null) await keepPreviousSecret(tx, row.id, row.secret)
  tx.afterCommit(() => webhooks.targetChanged(row.id))
  return now
}

const adminListAgents: Verb<'adminListAgents'> = async (ctx, { query }) => {
  const { rows, total } = await agentsByStatus(ctx.tx, query.status, query)
  return { items: await recordsOf(ctx, rows, adminAgentRecord), total }
}

const adminGetAgent: Verb<'adminGetAgent'> = async (ctx, { params }) => {
  const row = await presentAgent(ctx.tx, params.id)
  return { ...(await recordOf(ctx, row, adminAgentRecord)), checks: await checksOf(ctx.tx, row.id) }
}

async function checksOf(q: Reader, agentId: string) {
  const rows = await reportsOf(q, agentId)
  const of = (wanted: (typeof rows)[number]['kind']): TestReport[] =>
    rows.flatMap(({ kind, report }) => (kind === wanted ? JSON.parse(report) : []))
  return { tests: of('test'), heartbeats: of('heartbeat') }
}

const getAgentChecks: Verb<'getAgentChecks'> = async ({ tx, world, config, actor }, { params }) => {
  const { id, secret, secretRotatedAt, oldSecretUntil } = await ownAgentOf(tx, params.id, actor.user)
  const isBoth = oldSecretUntil !== null && oldSecretUntil > world.now()
  return {
    ...(await checksOf(tx, id)),
    secret:
      secret === null
        ? null
        : {
            fingerprint: secretFingerprint(unseal(config, id, secret)),
            since: iso(secretRotatedAt ?? 0),
            previousUntil: isBoth ? iso(oldSecretUntil) : null,
          },
  }
}

export const agentVerbs = {
  listAgents,
  getAgent,
  listMyAgents,
  createAgent,
  getMyAgent,
  getAgentChecks,
  updateAgent,
  rotateSecret,
  adminListAgents,
  adminGetAgent,
}
