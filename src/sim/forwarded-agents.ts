/**
 * Agents that run on this machine and get webhooks through the HTTPS front: made, tested, reviewed and listed by the verbs.
 * Source: A-240.
 */
import type { TestReport } from '../api/records.ts'
import { runChecks } from '../market/checks/connection-test.ts'
import type { Actor, Market } from '../market/market.ts'
import { verbs } from '../market/verbs.ts'
import { type AgentRow, agentById, agentsOfBuilder } from '../store/tables/agents.ts'
import { hurryAgent } from '../store/tables/deliveries.ts'
import { type SeededAgent, secretOf } from './seed.ts'

export interface ForwardedAgent extends SeededAgent {
  /** Where its webhooks go: plain HTTP on this machine. */
  forwardTo: string
}

/** Who does what with them. */
export interface Staff {
  builder: Actor
  admin: Actor
}

interface Wanted {
  /** Written like a slug. */
  name: string
  forwardTo: string
}

/** More than a builder may have. */
const ALL = { page: 1, limit: 100_000 }
/** The interface waits longer, for a warning that hides nobody. Source: A-241. */
const CALLBACK_MS = 2_000

/**
 * Returns the builder's agent of this name with its URL set to what `route` gives its slug. Makes it if it is missing.
 * A URL that is the same again leaves the last test valid.
 */
export async function ensureForwardedAgent(
  market: Market,
  builder: Actor,
  { name, forwardTo }: Wanted,
  route: (slug: string, target: string) => string,
): Promise<ForwardedAgent> {
  const own = await market.db.read(q => agentsOfBuilder(q, builder.user.id, ALL))
  const there = own.rows.find(row => row.slug === name || row.name === titleOf(name))
  const { id, slug, webhookUrl: before } = there ?? (await create(market, builder, { name, forwardTo }))
  const webhookUrl = route(slug, forwardTo)
  if (before !== webhookUrl) {
    const asked = { params: { id }, query: {}, body: { webhookUrl } }
    await market.db.write(tx => verbs.updateAgent({ ...market, tx, actor: builder }, asked))
  }
  const webhookSecret = (await secretOf(market, id)) ?? (await newSecret(market, builder, id))
  return { id, slug, webhookUrl, webhookSecret, forwardTo }
}

/** `my-agent` is My Agent. */
const titleOf = (name: string) =>
  name
    .split('-')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')

function create(market: Market, builder: Actor, { name, forwardTo }: Wanted) {
  const body = {
    name: titleOf(name),
    tagline: `Runs on this machine, at ${forwardTo}`.slice(0, 200),
    description: 'An agent of this machine. `marketplace dev` forwards its webhooks; update it to say what it does.',
    pricingModel: 'fixed',
    basePrice: 500,
    categoryIds: ['cat_automation'],
    maxRevisions: 3,
  } as const
  const asked = { params: {}, query: {}, body: { ...body, categoryIds: [...body.categoryIds] } }
  return market.db.write(tx => verbs.createAgent({ ...market, tx, actor: builder }, asked))
}

async function newSecret(market: Market, builder: Actor, id: string): Promise<string> {
  const asked = { params: { id }, query: {}, body: {} }
  return (await market.db.write(tx => verbs.rotateSecret({ ...market, tx, actor: builder }, asked))).secret
}

/** Runs the connection test, and lists the agent if it passes. */
export async function testAndList(market: Market, staff: Staff, id: string): Promise<TestReport> {
  const { report } = await runChecks(market, await rowOf(market, id), { callbackMs: CALLBACK_MS })
  if (report.passed) await list(market, staff, id)
  return report
}

/** Publishes and approves a draft whose test has passed. One that its builder has deactivated stays so. */
export async function list(market: Market, { builder, admin }: Staff, id: string): Promise<void> {
  const asked = { params: { id }, query: {}, body: undefined }
  if ((await rowOf(market, id)).status === 'draft')
    await market.db.write(tx => verbs.publishAgent({ ...market, tx, actor: builder }, asked))
  if ((await rowOf(market, id)).status === 'pending_review')
    await market.db.write(tx => verbs.approveAgent({ ...market, tx, actor: admin }, asked))
}

/** Whether it can be hired, else why not, and whether it has passed a test with its present URL and secret. */
export async function standingOf(market: Market, builder: Actor, id: string) {
  const asked = { params: { id }, query: {}, body: undefined }
  const { visible, hiddenReason, lastCheckPassedAt } = await market.db.read(tx =>
    verbs.getMyAgent({ ...market, tx, actor: builder }, asked),
  )
  return { visible, hiddenReason, hasPassed: lastCheckPassedAt !== null }
}

/** Sends what waits for a later attempt now, as the agent is back. */
export async function hurry(market: Market, id: string): Promise<void> {
  await market.db.write(async tx => {
    await hurryAgent(tx, id, market.world.now())
    tx.afterCommit(() => market.webhooks.wake(id))
  })
}

const rowOf = async ({ db }: Market, id: string) => (await db.read(q => agentById(q, id))) as AgentRow
