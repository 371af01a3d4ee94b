/**
 * Makes agents of a simulator, tests them, has them reviewed and lists them, as builders and an administrator do. Source: A-240,
 *
 */

import type { CallInput } from '../../api/endpoints/calls.ts'
import type { OwnAgentRecord, TestReport } from '../../api/records.ts'
import { saveSecret } from '../../market/agents/agents.ts'
import { runChecks } from '../../market/checks/connection-test.ts'
import type { Market } from '../../market/market.ts'
import { unseal } from '../../market/sealing.ts'
import { agentById } from '../../store/tables/agents/agents.ts'
import type { Egress } from '../../world/world.ts'
import { titleOf } from '../accounts.ts'
import { type Act, verbsAs } from '../verb-calls.ts'
export interface SeededAgent {
  id: string
  slug: string
  webhookUrl: string
  webhookSecret: string
  /** Where dev forwards its webhooks, if it does. */
  forwardTo?: string
}

/** Ids of accounts. */
export interface Staff {
  builderId: string
  adminId: string
}

export interface WantedAgent {
  /** Written like a slug, which it becomes unless another agent has that. */
  name: string
  /** Its webhook URL; made of its slug, if that has to be in it. */
  webhookUrl: string | ((slug: string) => string)
  /** What is said of it, where that matters. */
  fields?: Partial<CallInput<'createAgent'>>
  /** A program that runs already knows one; a new one unless given. */
  secret?: string
  /** The same; a new one unless given. */
  id?: string
}

const usual = {
  pricingModel: 'fixed',
  basePrice: 500,
  categoryIds: ['cat_automation'],
  maxRevisions: 3,
} as const satisfies Partial<CallInput<'createAgent'>>

/** More than a builder may have. */
const MOST_PAGES = 100

/** Returns the agents of a builder. */
async function agentsOf(act: Act): Promise<OwnAgentRecord[]> {
  const all: OwnAgentRecord[] = []
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { items, total } = await act('listMyAgents', { page, limit: 100 })
    all.push(...(items as OwnAgentRecord[]))
    if (all.length >= total) break
  }
  return all
}

/**
 * Returns the builder's agents of these names. Makes what is missing, and changes a URL or a secret that is another. An agent
 * that is as it was keeps its last test.
 */
export async function ensureAgents(
  market: Market,
  builderId: string,
  wanted: readonly WantedAgent[],
): Promise<SeededAgent[]> {
  return (await ensured(market, builderId, wanted)).map(({ agent }) => agent)
}

async function ensured(market: Market, builderId: string, wanted: readonly WantedAgent[]) {
  const act = verbsAs(market, builderId)
  const own = wanted.length === 0 ? [] : await agentsOf(act)
  const agents: { agent: SeededAgent; isNew: boolean }[] = []
  for (const one of wanted) {
    const there = own.find(({ slug, name }) => slug === one.name || name === titleOf(one.name))
    const record = there ?? (await create(market, builderId, one))
    agents.push({ agent: await asWanted(market, act, record, one), isNew: !there })
  }
  return agents
}

function create({ world, ...market }: Market, builderId: string, { name, fields, id, webhookUrl }: WantedAgent) {
  const title = titleOf(name)
  const about = {
    name: title,
    tagline: `${title}, an agent of this simulator`,
    description: 'An agent of this simulator. Its builder has said nothing of it yet, and may update it at any time.',
  }
  const makeId: typeof world.id = (kind, beside) => (kind === 'agt' && id ? id : world.id(kind, beside))
  const { categoryIds, ...rest } = usual
  return verbsAs({ ...market, world: { ...world, id: makeId } }, builderId)('createAgent', {
    ...rest,
    categoryIds: [...categoryIds],
    ...about,
    ...fields,
    ...(typeof webhookUrl === 'string' && { webhookUrl }),
  })
}

async function asWanted(market: Market, act: Act, record: OwnAgentRecord, wanted: WantedAgent): Promise<SeededAgent> {
  const { id, slug } = record
  const webhookUrl = typeof wanted.webhookUrl === 'string' ? wanted.webhookUrl : wanted.webhookUrl(slug)
  if (record.webhookUrl !== webhookUrl) await act('updateAgent', { id, webhookUrl })
  const kept = record.hasWebhookSecret ? await secretOf(market, id) : null
  const { secret = kept } = wanted
  if (secret !== null && secret !== kept) await setSecret(market, id, secret)
  return { id, slug, webhookUrl, webhookSecret: secret ?? (await act('rotateSecret', { id })).secret }
}

/** Gives an agent a secret that a program knows already. In a deployment only the marketplace makes secrets. */
async function setSecret(market: Market, id: string, secret: string): Promise<void> {
  if (market.config.mode !== 'dev') throw new Error('Only a simulator takes a webhook secret that it has not made.')
  await market.db.write(async tx => saveSecret({ ...market, tx }, (await agentById(tx, id))!, secret))
}

/** Returns the webhook secret of an agent in clear; null if there is none, or if it was sealed with a key that is lost. */
export async function secretOf({ db, config }: Market, id: string): Promise<string | null> {
  const sealed = (await db.read(q => agentById(q, id)))?.secret
  if (!sealed) return null
  try {
    return unseal(config, id, sealed)
  } catch {
    return null
  }
}

export interface FirstTest {
  /** How long the test waits for the callback. A-241 */
  callbackMs?: number
  /** The way to the agent, if it is another than that of its webhooks. */
  egress?: Egress
}

/** The interface waits longer, for a warning that hides nobody. Source: A-241. */
const CALLBACK_MS = 2_000

/** Runs the connection test, and lists the agent if it passes. */
export async function testAndList(
  market: Market,
  staff: Staff,
  id: string,
  { callbackMs = CALLBACK_MS, egress = market.world.egress }: FirstTest = {},
): Promise<TestReport> {
  const agent = (await market.db.read(q => agentById(q, id)))!
  const { report } = await runChecks({ ...market, world: { ...market.world, egress } }, agent, { callbackMs })
  if (report.passed) await list(market, staff, id)
  return report
}

/** Publishes and approves a draft whose test has passed. One that its builder has deactivated stays so. */
export async function list(market: Market, { builderId, adminId }: Staff, id: string): Promise<void> {
  let { status } = (await market.db.read(q => agentById(q, id)))!
  if (status === 'draft') status = (await verbsAs(market, builderId)('publishAgent', { id })).status
  if (status === 'pending_review') await verbsAs(market, adminId)('approveAgent', { id })
}

/** Whether it can be hired, else why not, and whether it has passed a test with its present URL and secret. */
export async function visibilityOf(market: Market, builderId: string, id: string) {
  const agent = await verbsAs(market, builderId)('getMyAgent', { id })
  const { visible, hiddenReason, lastCheckPassedAt, status } = agent
  return { visible, hiddenReason, hasPassed: lastCheckPassedAt !== null, isDraft: status === 'draft' }
}

/** So many tests at once, as a run of the heartbeat has. */
const AT_ONCE = 5

interface Furnishing {
  /** How its first test is made. */
  firstTest?(agent: SeededAgent): FirstTest
}

/** Makes agents that can be hired. One that can be is left as it is. */
export async function furnishAgents(
  market: Market,
  staff: Staff,
  wanted: readonly WantedAgent[],
  { firstTest }: Furnishing = {},
): Promise<SeededAgent[]> {
  const agents = await ensured(market, staff.builderId, wanted)
  const queue = [...agents]
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { agent, isNew } = next
      if (isNew || !(await canBeHired(market, staff, agent)))
        await testAndList(market, staff, agent.id, firstTest?.(agent))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return agents.map(({ agent }) => agent)
}

async function canBeHired(market: Market, { builderId }: Staff, { id }: SeededAgent): Promise<boolean> {
  const { visible, hasPassed, isDraft } = await visibilityOf(market, builderId, id)
  return visible && hasPassed && !isDraft
}

/** The tag of agents that are down on purpose. */
export const DOWN = 'down'
