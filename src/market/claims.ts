/** Which webhooks are sent next: what is due, fair between agents. Source: D37. */
import { dispatch } from '../api/limits.ts'
import type { QueuedAgent } from '../store/outbox.ts'
import { type Flight, hostOf } from './flight.ts'
import type { Hands, Look } from './in-hand.ts'
import type { ClaimedDelivery } from './webhook.ts'

/** Agents that one look at the queues reads at a time. */
const PAGE = 32

/** Takes up what may be sent now: of the named agents' queues, or of everyone's. */
export async function claim(hands: Hands, flight: Flight, named: readonly string[] | null): Promise<ClaimedDelivery[]> {
  hands.begin()
  if (named === null) flight.leftBehind = false
  if (flight.places() <= 0) {
    flight.leftBehind = true
    return []
  }
  if (named) return hands.look(async look => takeUp(look, await look.dueOf(named), flight))
  const due = await dueInTurn(hands, flight)
  return due.length === 0 ? [] : hands.look(look => takeUp(look, due, flight))
}

async function takeUp(look: Look, due: readonly QueuedAgent[], flight: Flight): Promise<ClaimedDelivery[]> {
  const counts = share(due, flight)
  const take = async ({ agentId, webhookUrl, secret }: QueuedAgent) => {
    const count = counts.get(agentId) ?? 0
    const found = count === 0 ? [] : await look.take(agentId, count)
    // As many as were asked for: there may be more.
    if (found.length === count) flight.leftBehind = true
    return found.map(row => ({ ...row, webhookUrl, secret }))
  }
  return (await Promise.all(due.map(take))).flat()
}

/** Agents with something due and a host that has room, from behind the one served last, once around at most. */
async function dueInTurn(hands: Hands, flight: Flight): Promise<QueuedAgent[]> {
  const due: QueuedAgent[] = []
  const begin = flight.lastServed
  let after = begin
  let around = begin === ''
  for (;;) {
    const page = await hands.queued(after, PAGE)
    for (const [at, agent] of page.entries()) {
      if (around && begin !== '' && agent.agentId > begin) return due
      if (!agent.due) continue
      if (flight.roomAt(hostOf(agent.webhookUrl)) > 0) due.push(agent)
      else flight.leftBehind = true
      if (due.length < flight.places()) continue
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
  flight: Pick<Flight, 'roomAt' | 'places' | 'lastServed'>,
): Map<string, number> {
  const counts = new Map<string, number>()
  const taken = new Map<string, number>()
  let room = flight.places()
  for (let round = 0; round < dispatch.perHost; round++) {
    for (const { agentId, webhookUrl } of due) {
      const host = hostOf(webhookUrl)
      if (room <= 0 || flight.roomAt(host) <= (taken.get(host) ?? 0)) continue
      counts.set(agentId, (counts.get(agentId) ?? 0) + 1)
      taken.set(host, (taken.get(host) ?? 0) + 1)
      flight.lastServed = agentId
      room--
    }
  }
  return counts
}
