/** Which webhooks are sent next: what is due, fair between agents, under a lease. Source: D37. */
import { dispatch } from '../api/limits.ts'
import type { Reader, Tx } from '../store/db.ts'
import { claimDelivery, type QueuedAgent, queuedAgent, queuedAgents } from '../store/outbox.ts'
import { type Flight, hostOf } from './flight.ts'
import type { Market } from './market.ts'
import type { ClaimedDelivery } from './webhook.ts'

/** Agents that one look at the queues reads at a time. */
const PAGE = 32

/** Takes up what may be sent now: of the named agents' queues, or of everyone's. */
export async function claim(
  market: Market,
  flight: Flight,
  named: readonly string[] | null,
): Promise<ClaimedDelivery[]> {
  const { db } = market
  if (named === null) flight.leftBehind = false
  if (flight.room() <= 0) {
    flight.leftBehind = true
    return []
  }
  if (named) return db.write(async tx => takeUp(market, tx, await dueOf(market, tx, named), flight))
  const due = await dueInTurn(market, flight)
  return due.length === 0 ? [] : db.write(tx => takeUp(market, tx, due, flight))
}

async function takeUp({ world }: Market, tx: Tx, due: readonly QueuedAgent[], flight: Flight) {
  const counts = share(due, flight)
  const realNow = world.realNow()
  const leasedUntil = realNow + dispatch.leaseMs
  const at = { now: world.now(), realNow, leasedUntil }
  const take = async ({ agentId, webhookUrl, secret }: QueuedAgent): Promise<ClaimedDelivery[]> => {
    const count = counts.get(agentId) ?? 0
    const rows = await Promise.all(Array.from({ length: count }, () => claimDelivery(tx, { ...at, agentId })))
    const found = rows.filter(row => row !== undefined)
    // As many as were asked for: there may be more.
    if (found.length === count) flight.leftBehind = true
    return found.map(row => ({ ...row, leasedUntil, webhookUrl, secret }))
  }
  return (await Promise.all(due.map(take))).flat()
}

const dueOf = async ({ world }: Market, q: Reader, named: readonly string[]) => {
  const asked = named.map(agentId => queuedAgent(q, agentId, world.now(), world.realNow()))
  return (await Promise.all(asked)).filter(agent => agent?.due === 1) as QueuedAgent[]
}

/** Agents with something due and a host that has room, from behind the one served last, once around at most. */
async function dueInTurn({ db, world }: Market, flight: Flight): Promise<QueuedAgent[]> {
  const due: QueuedAgent[] = []
  const begin = flight.lastServed
  let after = begin
  let around = begin === ''
  for (;;) {
    const page = await db.read(q => queuedAgents(q, { after, count: PAGE, now: world.now(), realNow: world.realNow() }))
    for (const [at, agent] of page.entries()) {
      if (around && begin !== '' && agent.agentId > begin) return due
      if (!agent.due) continue
      if (flight.of(hostOf(agent.webhookUrl)) < dispatch.perHost) due.push(agent)
      else flight.leftBehind = true
      if (due.length < flight.room()) continue
      flight.leftBehind = true
      flight.next = page
        .slice(at + 1)
        .filter(({ due }) => due === 1)
        .map(({ agentId }) => agentId)
      return due
    }
    if (page.length === PAGE) after = page.at(-1)!.agentId
    else if (around) return due
    else {
      around = true
      after = ''
    }
  }
}

/** How many each agent may send now: one each in turn, then a second where the host has room left. */
export function share(
  due: readonly Pick<QueuedAgent, 'agentId' | 'webhookUrl'>[],
  flight: Pick<Flight, 'of' | 'room' | 'lastServed'>,
): Map<string, number> {
  const counts = new Map<string, number>()
  const taken = new Map<string, number>()
  let room = flight.room()
  for (let round = 0; round < dispatch.perHost; round++) {
    for (const { agentId, webhookUrl } of due) {
      const host = hostOf(webhookUrl)
      const busy = flight.of(host) + (taken.get(host) ?? 0)
      if (room <= 0 || busy >= dispatch.perHost) continue
      counts.set(agentId, (counts.get(agentId) ?? 0) + 1)
      taken.set(host, (taken.get(host) ?? 0) + 1)
      flight.lastServed = agentId
      room--
    }
  }
  return counts
}
