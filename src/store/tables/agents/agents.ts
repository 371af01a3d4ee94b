/** Agents, and the public list of them. */

import type { AgentState } from '../../../api/flow.ts'
import { durations } from '../../../api/limits.ts'
import { type Paging, rowsOf } from '../../../api/page.ts'
import type { PricingModel } from '../../../api/records.ts'
import type { Reader, Tx, Value } from '../../db.ts'
import {
  bigint,
  defaulted,
  integer,
  type NewRow,
  nullable,
  type Patch,
  type Row,
  readPage,
  table,
  text,
  written,
} from '../table.ts'
import { tallied, tally } from '../tallies.ts'
import { beginsWith, clearTerms } from './search-words.ts'

export const agents = table('agents', {
  id: text(),
  slug: text(),
  builderId: text(),
  name: written(),
  tagline: written(),
  description: written(),
  pricingModel: text<PricingModel>(),
  basePrice: bigint(),
  turnaroundHours: integer(),
  maxRevisions: nullable(integer()),
  /** A JSON list. */
  tags: written(),
  avatarUrl: nullable(written()),
  webhookUrl: nullable(written()),
  /** Sealed, as is `oldSecret`. */
  secret: nullable(text()),
  secretRotatedAt: nullable(bigint()),
  oldSecret: nullable(text()),
  oldSecretUntil: nullable(bigint()),
  status: text<AgentState>(),
  reviewReason: nullable(text()),
  completedTasks: defaulted(integer()),
  ratingSum: defaulted(integer()),
  ratingCount: defaulted(integer()),
  /** How many of the ratings have one star, two …. */
  rated1: defaulted(integer()),
  rated2: defaulted(integer()),
  rated3: defaulted(integer()),
  rated4: defaulted(integer()),
  rated5: defaulted(integer()),
  lastPassAt: nullable(bigint()),
  failedAt: nullable(bigint()),
  testedAt: nullable(bigint()),
  deactivatedAt: nullable(bigint()),
  deletedAt: nullable(bigint()),
  createdAt: bigint(),
  updatedAt: bigint(),
})

export type AgentRow = Row<typeof agents>

/** An agent with the columns of its builder that its record and its visibility need. */
export interface ListedAgentRow extends AgentRow {
  builderName: string
  builderEmail: string
  builderSuspended: 0 | 1
  builderBanned: 0 | 1
}

const builderColumns =
  'u.name AS "builderName", u.email AS "builderEmail", u.suspended AS "builderSuspended", u.banned AS "builderBanned"'
const withBuilder = 'FROM agents a JOIN users u ON u.id = a.builder_id'
const selectListed = `SELECT ${agents.as('a')}, ${builderColumns} ${withBuilder}`

export const agentById = (q: Reader, id: string) =>
  q.get<AgentRow>(`SELECT ${agents.all} FROM agents WHERE id = $1`, [id])

export const agentOfTask = (q: Reader, taskId: string) =>
  q.get<AgentRow>(`SELECT ${agents.all} FROM agents WHERE id = (SELECT t.agent_id FROM tasks t WHERE t.id = $1)`, [
    taskId,
  ])

export const listedAgentById = (q: Reader, id: string) => q.get<ListedAgentRow>(`${selectListed} WHERE a.id = $1`, [id])

/** No slug looks like an id: ids have an underscore. */
export const agentByIdOrSlug = (q: Reader, idOrSlug: string) =>
  idOrSlug.includes('_')
    ? listedAgentById(q, idOrSlug)
    : q.get<ListedAgentRow>(`${selectListed} WHERE a.slug = $1`, [idOrSlug])

export const slugTaken = async (q: Reader, slug: string) =>
  (await q.get('SELECT id FROM agents WHERE slug = $1', [slug])) !== undefined

export type NewAgent = NewRow<typeof agents>

/** Returns 0 if the slug is taken. */
export const insertAgent = async (tx: Tx, agent: NewAgent) => {
  const inserted = await agents.insert(tx, agent, 'ON CONFLICT (slug) DO NOTHING')
  if (inserted === 1) await tally(tx, 'agents', agent.id, 1)
  return inserted
}

export type AgentPatch = Omit<Patch<typeof agents>, 'id' | 'slug' | 'builderId' | 'createdAt'>

/** Changes the given columns; with `status` only if the agent is still in it. Returns 0 if it changed nothing. */
export const updateAgentRow = (tx: Tx, id: string, patch: AgentPatch, status?: AgentState) =>
  agents.update(tx, { id, ...(status && { status }) }, patch)

/** Deletes an agent without open work, and takes it out of the search. Returns 0 if it has open work. Source: A-31. */
export const softDelete = async (tx: Tx, id: string, now: number) => {
  // Waits for those who hire it at this moment: the UPDATE alone would not see their tasks.
  await tx.get('SELECT id FROM agents WHERE id = $1 /*+ FOR UPDATE */', [id])
  const deleted = await tx.run(
    `UPDATE agents SET deleted_at = $2, updated_at = $2 WHERE id = $1 AND deleted_at IS NULL
       AND (SELECT COALESCE(SUM(w.held + w.in_dispute), 0) FROM work_sums w WHERE w.whose = $1) = 0`,
    [id, now],
  )
  if (deleted === 0) return 0
  await tally(tx, 'agents', id, -1)
  await tx.run('DELETE FROM agent_categories WHERE agent_id = $1', [id])
  await clearTerms(tx, id)
  return deleted
}

/** Notes the end of a test, unless the URL or the secret that it tested is no longer the agent's. */
export const updateTested = (
  tx: Tx,
  agent: Pick<AgentRow, 'id' | 'webhookUrl' | 'secret'>,
  patch: Pick<AgentPatch, 'testedAt' | 'lastPassAt' | 'failedAt'>,
) => agents.update(tx, { id: agent.id, webhookUrl: agent.webhookUrl, secret: agent.secret }, patch)

const countWhere = async (q: Reader, where: string, values: readonly Value[]) =>
  (await q.get<{ total: number }>(`SELECT COUNT(*) AS total FROM agents a WHERE ${where}`, values))!.total

const pageWhere = async (
  q: Reader,
  where: string,
  values: readonly Value[],
  span: Paging,
  order: string,
  counted?: Promise<number>,
) => {
  const total = await (counted ?? countWhere(q, where, values))
  const [limit, offset] = rowsOf(span)
  if (offset >= total) return { rows: [], total }
  const n = values.length
  // The sort carries ids alone; whole rows are fetched for the page only.
  const rows = await readPage<ListedAgentRow>(
    q,
    `${selectListed} WHERE a.id IN (
       SELECT a.id FROM agents a WHERE ${where} ORDER BY ${order} LIMIT $${n + 1} OFFSET $${n + 2}
     ) ORDER BY ${order}`,
    [...values, limit, offset],
  )
  return { rows, total }
}

const ofBuilder = 'a.builder_id = $1 AND a.deleted_at IS NULL'

/** One page of a builder's agents that are not deleted, newest first. */
export const agentsOfBuilder = (q: Reader, builderId: string, span: Paging) =>
  pageWhere(q, ofBuilder, [builderId], span, 'a.id DESC')

export const countOfBuilder = (q: Reader, builderId: string) => countWhere(q, ofBuilder, [builderId])

/** One page of all agents that are not deleted, newest first. */
export const agentsByStatus = (q: Reader, status: AgentState | undefined, span: Paging) =>
  status === undefined
    ? pageWhere(q, 'a.deleted_at IS NULL', [], span, 'a.id DESC', tallied(q, ['agents']))
    : pageWhere(q, 'a.status = $1 AND a.deleted_at IS NULL', [status], span, 'a.id DESC')

/**
 * The same condition as `isPublic` in src/market, for an agent `a`. $1 is the oldest pass that still counts. The builder comes
 * last and in a subquery, not in a join. So a page in the order of an index ends as soon as it is full.
 */
const publicCondition = `a.status IN ('verified', 'active') AND a.deleted_at IS NULL AND a.last_pass_at >= $1
  AND (a.failed_at IS NULL OR a.failed_at <= a.last_pass_at)
  AND NOT EXISTS (SELECT 1 FROM users s WHERE s.id = a.builder_id AND (s.suspended = 1 OR s.banned = 1))`

const publicSince = (now: number) => now - durations.freshMs

const orders = {
  popular: 'a.completed_tasks DESC, a.id DESC',
  newest: 'a.created_at DESC, a.id DESC',
  price_asc: 'a.base_price, a.id',
  price_desc: 'a.base_price DESC, a.id DESC',
} as const

type Sorted = Pick<ListedAgentRow, 'id' | 'completedTasks' | 'createdAt' | 'basePrice'>

const byId = (a: Sorted, b: Sorted) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** The same orders for rows in memory. */
export const compareListed: Record<keyof typeof orders, (a: Sorted, b: Sorted) => number> = {
  popular: (a, b) => b.completedTasks - a.completedTasks || byId(b, a),
  newest: (a, b) => b.createdAt - a.createdAt || byId(b, a),
  price_asc: (a, b) => a.basePrice - b.basePrice || byId(a, b),
  price_desc: (a, b) => b.basePrice - a.basePrice || byId(b, a),
}

const standings = [
  'id',
  'builderId',
  'basePrice',
  'status',
  'completedTasks',
  'lastPassAt',
  'failedAt',
  'deletedAt',
  'createdAt',
] as const satisfies readonly (keyof AgentRow)[]

/** The columns by which listed agents are ordered and hidden, without the texts. */
export type StandingOfListed = Pick<ListedAgentRow, (typeof standings)[number] | 'builderSuspended' | 'builderBanned'>

const selectStandings = `SELECT ${agents.some(standings, 'a')}, u.suspended AS "builderSuspended", u.banned AS "builderBanned" ${withBuilder}`

/** The rows of all agents that can be public, whether or not they are now. */
export const listedStandings = (q: Reader) =>
  q.all<StandingOfListed>(
    `${selectStandings} WHERE a.status IN ('verified', 'active') AND a.deleted_at IS NULL ORDER BY a.id`,
  )

export const standingOfListed = (q: Reader, id: string) =>
  q.get<StandingOfListed>(`${selectStandings} WHERE a.id = $1`, [id])

export interface PublicSearch extends Paging {
  /** Beginnings of words. An agent must have a word for each. */
  prefixes: readonly string[]
  categoryId: string | null
  sort: keyof typeof orders
}

export const publicAgents = (q: Reader, now: number, { prefixes, categoryId, sort, ...span }: PublicSearch) => {
  const values: Value[] = [publicSince(now)]
  const where = [publicCondition]
  if (categoryId !== null) {
    const parameter = values.push(categoryId)
    where.push(`a.id IN (SELECT c.agent_id FROM agent_categories c WHERE c.category_id = $${parameter})`)
  }
  for (const prefix of prefixes) {
    const { sql, values: ends } = beginsWith('t.term', prefix, values.length + 1)
    values.push(...ends)
    where.push(`a.id IN (SELECT t.agent_id FROM agent_terms t WHERE ${sql})`)
  }
  return pageWhere(q, where.join(' AND '), values, span, orders[sort])
}

/** The slugs of all that are public, the newest first. The caller bounds the page: no reader goes on and on. */
export const publicSlugs = async (q: Reader, now: number, { page, limit }: Paging) => {
  const values = [publicSince(now)]
  const rows = await q.all<Pick<AgentRow, 'slug' | 'updatedAt'>>(
    `SELECT ${agents.some(['slug', 'updatedAt'], 'a')} FROM agents a WHERE ${publicCondition} ORDER BY ${orders.newest} LIMIT $2 OFFSET $3`,
    [...values, limit, (page - 1) * limit],
  )
  return { rows, total: await countWhere(q, publicCondition, values) }
}

/** States in which the heartbeat tests an agent. Source: A-43. */
const testableStates: readonly AgentState[] = ['pending_review', 'verified', 'active']
const testable = `status IN (${testableStates.map(state => `'${state}'`).join(', ')}) AND deleted_at IS NULL`

export const isTestable = ({ status, deletedAt }: Pick<AgentRow, 'status' | 'deletedAt'>) =>
  testableStates.includes(status) && deletedAt === null

/** Ids of agents that were never tested, then of those whose last test is older than `before` (domain ms), the oldest first. */
export const leastRecentlyTested = async (q: Reader, before: number, limit: number) =>
  (
    await q.all<{ id: string }>(
      `SELECT id FROM agents WHERE ${testable} AND COALESCE(tested_at, 0) < $1
       ORDER BY COALESCE(tested_at, 0), id LIMIT $2`,
      [before, limit],
    )
  ).map(({ id }) => id)

export const countTestable = async (q: Reader) =>
  (await q.get<{ count: number }>(`SELECT COUNT(*) AS count FROM agents WHERE ${testable}`))!.count

/** How many agents are public now, by category. Categories without a public agent are absent. */
export const publicCounts = async (q: Reader, now: number) => {
  const rows = await q.all<{ id: string; count: number }>(
    `SELECT c.category_id AS id, COUNT(*) AS count FROM agents a JOIN agent_categories c ON c.agent_id = a.id
     WHERE ${publicCondition} GROUP BY c.category_id ORDER BY c.category_id`,
    [publicSince(now)],
  )
  return new Map(rows.map(row => [row.id, row.count]))
}
