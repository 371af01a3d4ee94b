/** The people of the crash tests, what they own, and the journal of every answer that they were given. */
import { SIGNATURE_HEADER, signatureHeaders } from '../../src/api/signature.ts'
import { chance } from '../store/page-cache.ts'
import type { Agent, Webhook } from './agent.ts'
import type { Caller } from './caller.ts'
import type { State, Step } from './history.ts'

export interface Job {
  title: string
  /** Known once the creation was answered, or found in a stored. */
  id: string | undefined
  buyer: Buyer
  /** As the last stored showed it; null if it was not there. */
  base: State | null
  /** Since then. */
  steps: Step[]
  /** The last status that an answer told. */
  status: string
  /** True once its buyer is through with it. */
  retired: boolean
}

export interface Buyer {
  id: string | undefined
  email: string
  /** True once the account's creation was answered. */
  registered: boolean
  /** As a header; undefined until the account is there. */
  credential: Record<string, string>
  jobs: Job[]
  /** Ids of deposits that were answered; how many may have been made besides. */
  deposits: string[]
  cutDeposits: number
}

export interface Scenario {
  agent: Agent
  agentId: string
  buyers: Buyer[]
  jobs: Map<string, Job>
  /** Jobs whose creation was not answered, by title. */
  unborn: Map<string, Job>
  admin: Record<string, string>
  builderKey: string
  /** Repeatable as far as the network allows. */
  random: () => number
  /** Counts sendings and answers. */
  tick: () => number
  answers: number
  cuts: number
  /** While the database may be away, an answer of 500 or 503 leaves it open whether the step was taken. */
  away: boolean
  /** How often there was such an answer. */
  refusals: number
}

export const PASSWORD = 'a long password'

let people = 0

export const newBuyer = (): Buyer => ({
  id: undefined,
  email: `buyer${++people}@example.com`,
  registered: false,
  credential: {},
  jobs: [],
  deposits: [],
  cutDeposits: 0,
})

/** Through HTTP alone: an agent that is listed, and buyers with money. */
export async function settle(
  agent: Agent,
  seed: number,
  buyers: number,
  ready: Ready,
  caller: () => Caller,
): Promise<Scenario> {
  let ticks = 0
  const { accounts } = ready
  const builder = caller()
  builder.credential = { authorization: `Bearer ${accounts.builder.apiKey}` }
  const admin = caller()
  const { email, password } = accounts.admin
  await admin.call('POST', '/api/auth/login', { email, password })
  const agentId = await enlist(agent, builder, admin)
  const scenario: Scenario = {
    agent,
    agentId,
    buyers: [],
    jobs: new Map(),
    unborn: new Map(),
    admin: admin.credential,
    builderKey: accounts.builder.apiKey,
    random: chance(seed),
    tick: () => ++ticks,
    answers: 0,
    cuts: 0,
    away: false,
    refusals: 0,
  }
  for (let i = 0; i < buyers; i++) {
    const buyer = newBuyer()
    const browser = caller()
    const account = { email: buyer.email, password: PASSWORD, name: 'A Buyer' }
    buyer.id = (await browser.call('POST', '/api/auth/register', account)).user.id
    await admin.call('PUT', `/api/admin/users/${buyer.id}`, { identityVerified: true })
    buyer.deposits.push((await browser.call('POST', '/api/wallet/deposit', { amount: 500_000 })).id)
    buyer.registered = true
    buyer.credential = browser.credential
    scenario.buyers.push(buyer)
  }
  return scenario
}

/** The ready line of dev. */
export interface Ready {
  accounts: Record<'buyer' | 'builder' | 'admin', { email: string; password: string; apiKey: string }>
}

async function enlist(agent: Agent, builder: Caller, admin: Caller): Promise<string> {
  const { id } = await builder.call('POST', '/api/my/agents', {
    name: 'Crash Dummy',
    tagline: 'Works through every crash',
    description: 'An agent of the crash tests, which notes every webhook that it is sent and answers most of them.',
    pricingModel: 'fixed',
    basePrice: 200,
    categoryIds: ['cat_code'],
    webhookUrl: agent.url,
  })
  agent.secret = (await builder.call('POST', `/api/my/agents/${id}/webhook-secret`)).secret
  agent.work = ({ data }: Webhook) => {
    const signed = signedRequest(agent.secret, data.callbackUrl, { action: 'accept' })
    builder.send('POST', { ...signed, headers: signed.headers }).catch(() => {})
  }
  const { passed } = await builder.call('POST', `/api/my/agents/${id}/test-connection`)
  agent.work = null
  if (!passed) throw new Error('the agent failed its test')
  await builder.call('POST', `/api/my/agents/${id}/publish`)
  await admin.call('POST', `/api/admin/agents/${id}/approve`)
  return id
}

/** A callback as an agent sends it. */
export function signedRequest(secret: string, callbackUrl: string, content: object): NonNullable<Step['signed']> {
  const body = JSON.stringify(content)
  const headers = signatureHeaders(secret, Date.now(), body)
  const { pathname } = new URL(callbackUrl)
  return {
    path: pathname,
    headers: { ...headers, 'content-type': 'application/json' },
    body,
    signature: headers[SIGNATURE_HEADER]!,
  }
}
