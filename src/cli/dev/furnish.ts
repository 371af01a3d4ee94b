/** Makes the accounts and the agents of a dev, and keeps what the next start and other commands need. */
import type { Market } from '../../market/market.ts'
import { verbs } from '../../market/verbs.ts'
import type { Marketplace } from '../../open.ts'
import { ensureForwardedAgent, type ForwardedAgent, type Staff } from '../../sim/forwarded-agents.ts'
import type { Front } from '../../sim/https-front.ts'
import type { SampleAgent } from '../../sim/sample-agent.ts'
import { actorOf, type Credentials, seed } from '../../sim/seed.ts'
import type { GivenAgent } from './given-agents.ts'
import { addressFor } from './ports.ts'
import { type Kept, keepCredentials, type StateFolder } from './state-folder.ts'

interface FurnishOptions {
  state: StateFolder
  kept: Kept | null
  agents: readonly GivenAgent[]
  front: Front
  sample: SampleAgent
}

export interface Furnished {
  /** The sample agent is the first of the agents. */
  credentials: Credentials
  staff: Staff
  forwarded: readonly ForwardedAgent[]
  /** Writes the credentials as they are now. */
  keep(): void
}

export async function furnish({ market, url }: Marketplace, options: FurnishOptions): Promise<Furnished> {
  const { state, kept, front, sample } = options
  const credentials = await seed(market, kept, sample.url)
  const { accounts, agents } = credentials
  sample.use(agents[0]!.webhookSecret)
  const staff = { builder: await actorOf(market, accounts.builder.id), admin: await actorOf(market, accounts.admin.id) }
  const forwarded: ForwardedAgent[] = []
  for (const { name, forwardTo } of options.agents) {
    const wanted = { name, forwardTo: forwardTo ?? (await addressFor(name, kept)) }
    forwarded.push(await ensureForwardedAgent(market, staff.builder, wanted, front.route))
  }
  agents.push(...forwarded)
  const { baseUrl, instanceId: instance } = market.config
  const publicUrl = baseUrl === url ? {} : { publicUrl: baseUrl }
  const keep = () => keepCredentials(state, { url, ...publicUrl, instance, frontPort: front.port, ...credentials })
  keep()
  return { credentials, staff, forwarded, keep }
}

/** Runs the connection test of the sample agent. Never rejects: the log has what went wrong. */
export async function testSample(market: Market, { builder }: Staff, id: string): Promise<void> {
  const warn = (message: string) => market.log({ type: 'warning', message })
  const asked = { params: { id }, query: {}, body: undefined }
  try {
    const { checks } = await verbs.testConnection({ ...market, actor: builder }, asked)
    const failed = checks.find(({ status }) => status === 'failed')
    if (failed) warn(`The sample agent failed its test: ${failed.message}`)
  } catch (error) {
    warn(`The sample agent is untested: ${(error as Error).message}`)
  }
}
