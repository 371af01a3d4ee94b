/** Makes the accounts and the agents of a dev, and keeps what the next start and other commands need. */

import type { Market } from '../../market/market.ts'
import type { Marketplace } from '../../open/open.ts'
import { type Staff, testAndList, visibilityOf } from '../../sim/agents/agents.ts'
import { ensureForwardedAgents, type ForwardedAgent } from '../../sim/agents/forwarded-agents.ts'
import { freePort, isFree } from '../../sim/agents/free-port.ts'
import type { Front } from '../../sim/agents/https-front.ts'
import type { SampleAgent } from '../../sim/agents/sample-agent.ts'
import { type Credentials, seed, staffOf } from '../../sim/seed.ts'
import type { GivenAgent } from './given-agents.ts'
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
  /** Names, by id, of the agents that never answer. */
  silent: ReadonlyMap<string, string>
  staff: Staff
  forwarded: readonly ForwardedAgent[]
  /** Writes the credentials as they are now. */
  keep(): void
}

export async function furnish({ market, url }: Marketplace, options: FurnishOptions): Promise<Furnished> {
  const { state, kept, front, sample } = options
  const { silent, ...credentials } = await seed(market, kept, sample)
  const staff = staffOf(credentials)
  const wanted: { name: string; forwardTo: string }[] = []
  for (const { name, forwardTo } of options.agents)
    wanted.push({ name, forwardTo: forwardTo ?? (await addressFor(name, kept)) })
  const forward = (agents: typeof wanted) => ensureForwardedAgents(market, staff.builderId, agents, front.route)
  const given = await forward(wanted)
  const forwarded = [...given, ...(await forward(await earlierAgents(market, staff, kept, given)))]
  credentials.agents.push(...forwarded)
  const { baseUrl, instanceId: instance } = market.config
  const publicUrl = baseUrl === url ? {} : { publicUrl: baseUrl }
  const keep = () => keepCredentials(state, { url, ...publicUrl, instance, frontPort: front.port, ...credentials })
  keep()
  return { credentials, silent, staff, forwarded, keep }
}

/**
 * Those that a start before has forwarded to: they are listed, so whoever hires one is not to meet a front that does not know it.
 * An address that is given now is of the agent that it is given for. Source: A-240.
 */
async function earlierAgents(
  market: Market,
  { builderId }: Staff,
  kept: Kept | null,
  given: readonly ForwardedAgent[],
): Promise<{ name: string; forwardTo: string }[]> {
  const earlier: { name: string; forwardTo: string }[] = []
  for (const { id, slug, forwardTo } of kept?.agents ?? []) {
    if (forwardTo === undefined || given.some(agent => agent.id === id || agent.forwardTo === forwardTo)) continue
    const isDeleted = await visibilityOf(market, builderId, id).then(
      () => false,
      () => true,
    )
    if (!isDeleted) earlier.push({ name: slug, forwardTo })
  }
  return earlier
}

/** Runs the connection test of the sample agent. Never rejects: the log has what went wrong, unless `signal` says that dev ends. */
export async function testSample(market: Market, staff: Staff, id: string, signal?: AbortSignal): Promise<void> {
  const warn = (message: string) => signal?.aborted || market.log({ type: 'warning', message })
  try {
    const { checks } = await testAndList(market, staff, id)
    const failed = checks.find(({ status }) => status === 'failed')
    if (failed) warn(`The sample agent failed its test: ${failed.message}`)
  } catch (error) {
    warn(`The sample agent is untested: ${(error as Error).message}`)
  }
}

/** Returns where the agent of `--run` has to listen: the port of the start before, or another free one. */
async function addressFor(name: string, kept: Kept | null): Promise<string> {
  const before = kept?.agents.find(({ slug }) => slug === name)?.forwardTo
  const port = before ? Number(new URL(before).port) : 0
  return `http://localhost:${port > 0 && (await isFree(port)) ? port : await freePort()}/webhook`
}
