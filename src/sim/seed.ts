/** Seeds a new simulator: three accounts, money, and a few listed agents of which the first works. Source: A-6. */
import { createUser, hashRandomPassword } from '../market/accounts/accounts.ts'
import { createKeyFor } from '../market/accounts/keys.ts'
import { indexAgent } from '../market/agents/search-index.ts'
import type { Actor, Market } from '../market/market.ts'
import { unseal } from '../market/sealing.ts'
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

export interface SeededAgent {
  id: string
  slug: string
  webhookUrl: string
  webhookSecret: string
  /** Where dev forwards its webhooks, if it does. */
  forwardTo?: string
}

/** What the start screen shows and what `dev` stores for its next start. */
export interface Credentials {
  accounts: { buyer: SeededAccount; builder: SeededAccount; admin: SeededAccount }
  agents: SeededAgent[]
}

export const people = ['buyer', 'builder', 'admin'] as const
type Person = (typeof people)[number]

const NAMES: Record<Person, string> = { buyer: 'Bo Buyer', builder: 'Billie Builder', admin: 'Ada Admin' }
// Two deposits, each as large as a new account may make.
const FUNDS = [50_000, 50_000]

/**
 * Creates what is missing, and sets the first agent's URL to `webhookUrl`, where it listens now. Accounts in `known` stay as
 * they are. An account that exists but is not in `known` gets a new password and a new key.
 */
export async function seed(market: Market, known: Credentials | null, webhookUrl: string): Promise<Credentials> {
  const accounts = {} as Credentials['accounts']
  const before = await market.db.read(q => userByEmail(q, emailOf('buyer')))
  for (const person of people) accounts[person] = await ensureAccount(market, person, known?.accounts?.[person])
  if (!before) await fund(market, accounts.buyer.id, accounts.admin.id)
  const builder = await actorOf(market, accounts.builder.id)
  const first = await ensureAgents(market, builder, webhookUrl)
  return { accounts, agents: [first] }
}

/** Returns an actor for an account of the simulator, without a password. */
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

/** Tells the databases that a dev has made. */
export const BUYER = 'buyer@example.com'
const emailOf = (person: Person) => `${person}@example.com`

/** Verifies the identity first, so that the day's limit leaves room for a deposit by the user. */
async function fund(market: Market, userId: string, adminId: string): Promise<void> {
  await market.db.write(tx => updateUser(tx, userId, { identityVerified: 1 }))
  const [actor, admin] = [await actorOf(market, userId), await actorOf(market, adminId)]
  for (const amount of FUNDS) {
    await market.db.write(async tx => {
      const body = { amount }
      const { id, status } = await verbs.deposit({ ...market, tx, actor }, { params: {}, query: {}, body })
      // Where payments are handled by hand, an administrator has to confirm the deposit.
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
// The discard port of this machine, where nothing listens.
const NOWHERE = 'https://localhost:9/webhook'

async function ensureAgents(market: Market, builder: Actor, webhookUrl: string): Promise<SeededAgent> {
  const slug = 'sample-agent'
  const found = await market.db.read(q => agentByIdOrSlug(q, slug))
  const there = found?.deletedAt === null ? found : undefined
  // Lists show the newest agent first, and that should be the one that works.
  if (!there) for (const listing of SILENT) await createListing(market, builder, listing, NOWHERE)
  const id = there?.id ?? (await createListing(market, builder, WORKING, webhookUrl))
  await market.db.write(tx => updateAgentRow(tx, id, { webhookUrl }))
  const kept = await secretOf(market, id)
  if (there && kept) return { id, slug, webhookUrl, webhookSecret: kept }
  const { secret } = await market.db.write(tx =>
    verbs.rotateSecret({ ...market, tx, actor: builder }, { params: { id }, query: {}, body: {} }),
  )
  await market.db.write(tx => approve(tx, market.world.now(), id))
  return { id, slug, webhookUrl, webhookSecret: secret }
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

function createListing(market: Market, actor: Actor, listing: Listing, webhookUrl: string): Promise<string> {
  const body = { ...listing, pricingModel: 'fixed' as const, webhookUrl }
  return market.db.write(async tx => {
    const { id } = await verbs.createAgent({ ...market, tx, actor }, { params: {}, query: {}, body })
    await approve(tx, market.world.now(), id)
    return id
  })
}

// Skips the review, so that the agent can be hired at once.
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
