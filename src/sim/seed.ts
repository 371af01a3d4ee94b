/** What a fresh simulator holds: three accounts, money, and a few listed agents of which the first works. Source: A-6. */
import { createUser, hashRandomPassword } from '../market/accounts/accounts.ts'
import { createKeyFor } from '../market/accounts/keys.ts'
import { indexAgent } from '../market/agents/search-index.ts'
import type { Actor, Market } from '../market/market.ts'
import { verbs } from '../market/verbs.ts'
import type { Tx } from '../store/db.ts'
import { agentById, agentByIdOrSlug, updateAgentRow } from '../store/tables/agents.ts'
import { deleteKeysNamed } from '../store/tables/keys.ts'
import { type UserRow, updateUser, userByEmail, userById } from '../store/tables/users.ts'

interface SeededAccount {
  id: string
  email: string
  password: string
  apiKey: string
}

interface SeededAgent {
  id: string
  slug: string
  webhookUrl: string
  webhookSecret: string
}

/** All that the start screen shows, and what dev remembers. */
export interface Credentials {
  accounts: { buyer: SeededAccount; builder: SeededAccount; admin: SeededAccount }
  agents: SeededAgent[]
}

export const people = ['buyer', 'builder', 'admin'] as const
type Person = (typeof people)[number]

const NAMES: Record<Person, string> = { buyer: 'Bo Buyer', builder: 'Billie Builder', admin: 'Ada Admin' }
// Two deposits of what a new account may deposit at a time.
const FUNDS = [50_000, 50_000]

/**
 * Makes what is missing and moves the first agent to `webhookUrl`, where it listens now. What `known` says stays as it
 * is; where `known` is null, accounts that exist get a new password and a new key.
 */
export async function seed(market: Market, known: Credentials | null, webhookUrl: string): Promise<Credentials> {
  const accounts = {} as Credentials['accounts']
  const before = await market.db.read(q => userByEmail(q, emailOf('buyer')))
  for (const person of people) accounts[person] = await ensureAccount(market, person, known?.accounts?.[person])
  if (!before) await fund(market, accounts.buyer.id, accounts.admin.id)
  const builder = await actorOf(market, accounts.builder.id)
  const first = await ensureAgents(market, builder, known?.agents?.[0], webhookUrl)
  return { accounts, agents: [first] }
}

/** Somebody of the house, who needs no password. */
export async function actorOf({ db }: Market, userId: string): Promise<Actor> {
  const user = (await db.read(q => userById(q, userId))) as UserRow
  return { user, via: 'session', credential: 'simulator' }
}

async function ensureAccount(market: Market, person: Person, known: SeededAccount | undefined): Promise<SeededAccount> {
  const { db, world } = market
  const email = emailOf(person)
  const there = await db.read(q => userByEmail(q, email))
  if (there && known?.id === there.id) return known
  const password = `${person}-${world.bytes(9).toString('base64url')}`
  const passwordHash = await hashRandomPassword(password)
  const made = await db.write(async tx => {
    const fields = { email, name: NAMES[person], passwordHash, isBuilder: true, isAdmin: person === 'admin' }
    const { id } = there ?? (await createUser(tx, world, fields))
    if (there) await updateUser(tx, id, { passwordHash })
    await deleteKeysNamed(tx, id, 'dev')
    const { key } = await createKeyFor(tx, world, id, 'dev')
    return { id, apiKey: key }
  })
  return { id: made.id, email, password, apiKey: made.apiKey }
}

const emailOf = (person: Person) => `${person}@example.com`

/** Verified, so that what is given here leaves room for a first deposit of one's own today. */
async function fund(market: Market, userId: string, adminId: string): Promise<void> {
  await market.db.write(tx => updateUser(tx, userId, { identityVerified: 1 }))
  const [actor, admin] = [await actorOf(market, userId), await actorOf(market, adminId)]
  for (const amount of FUNDS) {
    await market.db.write(async tx => {
      const body = { amount }
      const { id, status } = await verbs.deposit({ ...market, tx, actor }, { params: {}, query: {}, body })
      // Where payments are handled by hand somebody has to say that the money came.
      const asked = { params: { id }, query: {}, body: undefined }
      if (status === 'pending') await verbs.confirmDeposit({ ...market, tx, actor: admin }, asked)
    })
  }
}

interface Listing {
  name: string
  tagline: string
  description: string
  basePrice: number
  categoryIds: string[]
  tags: string[]
  maxRevisions: number
}

const WORKING: Listing = {
  name: 'Sample Agent',
  tagline: 'Accepts every task and delivers at once',
  description:
    'The built-in agent of the local simulator: hire it to watch a whole task life, from webhook to payment.',
  basePrice: 500,
  categoryIds: ['cat_writing', 'cat_automation'],
  tags: ['sample'],
  maxRevisions: 3,
}

const SILENT: Listing[] = [
  {
    name: 'Silent Translator',
    tagline: 'Listed, but nobody answers its webhooks',
    description:
      'Hire it to see what happens when an agent is down: webhooks are retried, and the task can be cancelled.',
    basePrice: 1_500,
    categoryIds: ['cat_translation'],
    tags: ['sample', 'down'],
    maxRevisions: 2,
  },
  {
    name: 'Silent Analyst',
    tagline: 'Another listed agent that never answers',
    description:
      'There to have something to search, sort and page through. Its webhooks are refused, so tasks stay pending.',
    basePrice: 4_200,
    categoryIds: ['cat_data', 'cat_research'],
    tags: ['sample', 'down'],
    maxRevisions: 0,
  },
]
// Discard: on this machine, and nobody listens.
const NOWHERE = 'https://localhost:9/webhook'

async function ensureAgents(
  market: Market,
  builder: Actor,
  known: SeededAgent | undefined,
  webhookUrl: string,
): Promise<SeededAgent> {
  const slug = 'sample-agent'
  const found = await market.db.read(q => agentByIdOrSlug(q, slug))
  const there = found?.deletedAt === null ? found : undefined
  // Of agents without completed tasks the newest is listed first, and that should be the one that works.
  if (!there) for (const listing of SILENT) await list(market, builder, listing, NOWHERE)
  const id = there?.id ?? (await list(market, builder, WORKING, webhookUrl))
  await market.db.write(tx => updateAgentRow(tx, id, { webhookUrl }))
  if (there && known?.id === id) return { ...known, webhookUrl }
  const { secret } = await market.db.write(tx =>
    verbs.rotateSecret({ ...market, tx, actor: builder }, { params: { id }, query: {}, body: {} }),
  )
  await market.db.write(tx => approve(tx, market.world.now(), id))
  return { id, slug, webhookUrl, webhookSecret: secret }
}

function list(market: Market, actor: Actor, listing: Listing, webhookUrl: string): Promise<string> {
  const body = { ...listing, pricingModel: 'fixed' as const, webhookUrl }
  return market.db.write(async tx => {
    const { id } = await verbs.createAgent({ ...market, tx, actor }, { params: {}, query: {}, body })
    await approve(tx, market.world.now(), id)
    return id
  })
}

// As if a review had passed: the simulator's reader wants somebody to hire, not a queue.
async function approve(tx: Tx, now: number, id: string): Promise<void> {
  const { status } = (await agentById(tx, id))!
  await updateAgentRow(tx, id, {
    status: status === 'draft' ? 'verified' : status,
    lastPassAt: now,
    testedAt: now,
    failedAt: null,
  })
  await indexAgent(tx, (await agentById(tx, id))!)
}
