/** The accounts of simulated buyers: with money, and with an agent where that is who buys. Source: A-256. */
import type { Market } from '../../market/market.ts'
import { furnishBuyers } from '../accounts.ts'
import { ensureAgents } from '../agents/agents.ts'
import { type Act, verbsAs } from '../verb-calls.ts'
import type { Persona } from './persona.ts'

/** What a buyer has at least when it can pay, in cents. */
export const RESERVE = 50_000

export interface Buyer {
  readonly id: string
  readonly persona: Persona
  readonly act: Act
  /** The authorization of its agent, where that buys. */
  readonly budgetId: string | null
  /** The UTC day in which its deposits were used up. */
  brokeOn: number
}

/** Where agents that hire hear of what was delivered to them. `secret`: the one that is known there; a new one unless given. */
export interface Hearing {
  readonly webhookUrl: string
  readonly secret?: string
}

export interface WantedPersonas {
  market: Market
  adminId: string
  personas: readonly Persona[]
  hearing: Hearing
}

export async function makeBuyers({ market, adminId, personas, hearing }: WantedPersonas): Promise<Buyer[]> {
  const buyers: Buyer[] = []
  for (const persona of personas) {
    const { name, tier, overspends } = persona
    const [account] = await furnishBuyers(market, adminId, { names: [name], tier, funds: RESERVE })
    const { id } = account!
    const act = verbsAs(market, id)
    const budgetId = overspends && (await authorize(market, id, act, `${name}-agent`, hearing))
    buyers.push({ id, persona, act, budgetId, brokeOn: -1 })
  }
  return buyers
}

/** Far more than is spent: what binds is the cap of a task. */
const MOST_CENTS = 100_000_000

/** Makes an agent of the buyer's own that may spend from its wallet. Returns the id of the authorization. */
export async function authorize(
  market: Market,
  buyerId: string,
  buyer: Act,
  name: string,
  hearing: Hearing,
): Promise<string> {
  const [agent] = await ensureAgents(market, buyerId, [{ name, ...hearing }])
  const { items } = await buyer('listBudgets', {})
  const [known] = items as readonly { id: string }[]
  if (known) return known.id
  const caps = { maxPerTask: MOST_CENTS, maxDaily: MOST_CENTS, maxMonthly: MOST_CENTS }
  return (await buyer('createBudget', { agentId: agent!.id, ...caps })).id
}
