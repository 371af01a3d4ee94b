/** Agents that run on this machine and get webhooks through the HTTPS front. Source: A-240. */
import type { Market } from '../../market/market.ts'
import { hurryAgent } from '../../store/tables/webhooks/deliveries.ts'
import { ensureAgents, type SeededAgent } from './agents.ts'

export interface ForwardedAgent extends SeededAgent {
  /** Where its webhooks go: plain HTTP on this machine. */
  forwardTo: string
}

interface Wanted {
  /** Written like a slug. */
  name: string
  forwardTo: string
}

/**
 * Returns the builder's agents of these names with their URLs set to what `route` gives their slugs. Makes those that are
 * missing. A URL that is the same again leaves the last test valid.
 */
export async function ensureForwardedAgents(
  market: Market,
  builderId: string,
  wanted: readonly Wanted[],
  route: (slug: string, target: string) => string,
): Promise<ForwardedAgent[]> {
  const described = wanted.map(({ name, forwardTo }) => ({
    name,
    webhookUrl: (slug: string) => route(slug, forwardTo),
    fields: {
      tagline: `Runs on this machine, at ${forwardTo}`.slice(0, 200),
      description: 'An agent of this machine. `dev` forwards its webhooks; update it to say what it does.',
    },
  }))
  const agents = await ensureAgents(market, builderId, described)
  return agents.map((agent, at) => ({ ...agent, forwardTo: wanted[at]!.forwardTo }))
}

/** Sends what waits for a later attempt now, as the agent is back. */
export async function hurry(market: Market, id: string): Promise<void> {
  await market.db.write(async tx => {
    await hurryAgent(tx, id, market.world.now())
    tx.afterCommit(() => market.webhooks.wake(id))
  })
}
