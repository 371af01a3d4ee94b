/** Seeds a new simulator: three accounts, money, and a few listed agents of which one works. Source: A-6. */

import { NOWHERE } from '../api/diagnosis/responses.ts'
import type { CallInput } from '../api/endpoints/calls.ts'
import type { Market } from '../market/market.ts'
import { userByEmail } from '../store/tables/accounts/users.ts'
import { emailOf, ensureAccount, ensureFunds, type SeededAccount } from './accounts.ts'
import { DOWN, furnishAgents, type SeededAgent, type Staff } from './agents/agents.ts'
import { SAMPLE, type SampleAgent } from './agents/sample-agent.ts'
import { testResponder } from './agents/test-responder.ts'
import { verbsAs } from './verb-calls.ts'

/** What the start screen shows and what `dev` stores for its next start. */
export interface Credentials {
  accounts: { buyer: SeededAccount; builder: SeededAccount; admin: SeededAccount }
  agents: SeededAgent[]
}

interface Seeded extends Credentials {
  /** Names, by id, of the agents that never answer. */
  silent: ReadonlyMap<string, string>
}

export const people = ['buyer', 'builder', 'admin'] as const
type Person = (typeof people)[number]

const NAMES: Record<Person, string> = { buyer: 'Bo Buyer', builder: 'Billie Builder', admin: 'Ada Admin' }
/** Of a new buyer, in cents. */
const FUNDS = 100_000

/** Tells the databases that a dev has made. */
export const BUYER = emailOf('buyer')

export const staffOf = ({ accounts }: Pick<Credentials, 'accounts'>): Staff => ({
  builderId: accounts.builder.id,
  adminId: accounts.admin.id,
})

/**
 * Creates what is missing, and sets the sample agent's URL to where it listens now. Accounts in `known` stay as they are. An
 * account that exists but is not in `known` gets a new password and a new key.
 */
export async function seed(market: Market, known: Credentials | null, sample: SampleAgent): Promise<Seeded> {
  const accounts = {} as Credentials['accounts']
  const before = await market.db.read(q => userByEmail(q, BUYER))
  for (const name of people) {
    const isAdmin = name === 'admin'
    accounts[name] = await ensureAccount(market, { name, fullName: NAMES[name], isAdmin }, known?.accounts?.[name])
  }
  if (!before) await fund(market, accounts)
  return { accounts, ...(await seedAgents(market, staffOf({ accounts }), sample)) }
}

/** Verifies the identity first, so that the day's limit leaves room for a deposit by the user. */
async function fund(market: Market, { buyer, admin }: Credentials['accounts']): Promise<void> {
  const asAdmin = verbsAs(market, admin.id)
  await asAdmin('adminUpdateUser', { id: buyer.id, identityVerified: true })
  await ensureFunds(verbsAs(market, buyer.id), asAdmin, FUNDS)
}

type Fields = Partial<CallInput<'createAgent'>>

const WORKING: Fields = {
  tagline: 'Accepts every task and delivers at once',
  description:
    'The built-in agent of the local simulator: hire it to watch a whole task life, from webhook to payment.',
  categoryIds: ['cat_writing', 'cat_automation'],
  tags: ['sample'],
}

const SILENT: Record<string, Fields> = {
  'silent-translator': {
    tagline: 'Listed, but nobody answers its webhooks',
    description:
      'Hire it to see what happens when an agent is down: webhooks are retried, and the task can be cancelled. Health checks hide it until dev is started again.',
    basePrice: 1_500,
    categoryIds: ['cat_translation'],
    tags: ['sample', DOWN],
    maxRevisions: 2,
  },
  'silent-analyst': {
    tagline: 'Another listed agent that never answers',
    description:
      'There to have something to search, sort and page through. Its webhooks are refused, so tasks stay pending. Health checks hide it until dev is started again.',
    basePrice: 4_200,
    categoryIds: ['cat_data', 'cat_research'],
    tags: ['sample', DOWN],
    maxRevisions: 0,
  },
}
export const seededNames: readonly string[] = [SAMPLE, ...Object.keys(SILENT)]

/**
 * Its first connection test is answered within this process, because making the certificate of its
 * https front takes longer than the rest of a start. Later tests go to its URL. Nothing listens at those of the silent agents.
 */
async function seedAgents(market: Market, staff: Staff, sample: SampleAgent): Promise<Omit<Seeded, 'accounts'>> {
  const silent = Object.entries(SILENT).map(([name, fields]) => ({ name, webhookUrl: NOWHERE, fields }))
  // Lists show the newest agent first, and that should be the one that works.
  const wanted = [...silent, { name: SAMPLE, webhookUrl: sample.url, fields: WORKING }]
  const agents = await furnishAgents(market, staff, wanted, {
    firstTest: ({ webhookSecret }) => ({ egress: testResponder(market, webhookSecret) }),
  })
  const working = agents.pop()!
  sample.use(working.webhookSecret)
  return { agents: [working], silent: new Map(agents.map(({ id, slug }) => [id, slug])) }
}
