/** Which webhooks are sent next: what is due, fair between agents. Source: A-37. */
import { dispatch } from '../../api/limits.ts'
import type { QueuedAgent } from '../../store/tables/outbox.ts'
import type { ClaimedDelivery } from './attempt.ts'
import { counter, type Flight, targetOf } from './in-flight.ts'
import type { Hands, Look } from './leases.ts'

/** Agents that one look at the queues reads at a time, and how often it does once it has found one that may be served. */
const PAGE = 32
const PAGES = 2

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
  const take = async ({ agentId, builderId, webhookUrl, secret }: QueuedAgent) => {
    const count = counts.get(agentId) ?? 0
    const found = count === 0 ? [] : await look.take(agentId, count)
    // As many as were asked for: there may be more.
    if (found.length === count) flight.leftBehind = true
    return found.map(row => ({ ...row, builderId, webhookUrl, secret }))
  }
  return (await Promise.all(due.map(take))).flat()
}

/** Agents with something due and a host that has room, from behind the one served last, once around at most. */
async function dueInTurn(hands: Hands, flight: Flight): Promise<QueuedAgent[]> {
  const due: QueuedAgent[] = []
  const taken = counter()
  const begin = flight.lastServed
  let after = begin
  let around = begin === ''
  for (let pages = 1; ; pages++) {
    const page = await hands.queued(after, PAGE)
    for (const [at, agent] of page.entries()) {
      if (around && begin !== '' && agent.agentId > begin) return due
      if (!agent.due) continue
      const to = targetOf(agent)
      if (flight.roomAt(to) > taken.of(to.host) && flight.fits(to, dispatch.shareAlone, taken.of)) {
        due.push(agent)
        taken.add([to.host, ...to.keys], 1)
      } else flight.leftBehind = true
      if (due.length < flight.places()) continue
      flight.leftBehind = true
      flight.next = page
        .slice(at + 1)
        .filter(({ due }) => due === 1)
        .map(({ agentId }) => agentId)
      return due
    }
    // Places that no share has room for would have it read on through everyone. The next look begins where this one ends.
    if (due.length > 0 && pages === PAGES) {
      flight.leftBehind = true
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

/**
 * How many each agent may send now: one each in turn, then a second where its host has room left. No account and no domain
 * gets more than its share, unless places are left over.
 */
export function share(
  due: readonly Pick<QueuedAgent, 'agentId' | 'builderId' | 'webhookUrl'>[],
  flight: Pick<Flight, 'roomAt' | 'fits' | 'places' | 'lastServed'>,
): Map<string, number> {
  const counts = new Map<string, number>()
  const taken = counter()
  let room = flight.places()
  for (const [limit, round] of ROUNDS) {
    for (const agent of due) {
      const to = targetOf(agent)
      const count = counts.get(agent.agentId) ?? 0
      if (room <= 0 || count > round || flight.roomAt(to) <= taken.of(to.host)) continue
      if (!flight.fits(to, limit, taken.of)) continue
      counts.set(agent.agentId, count + 1)
      taken.add([to.host, ...to.keys], 1)
      flight.lastServed = agent.agentId
      room--
    }
  }
  return counts
}

const ROUNDS = Array.from({ length: dispatch.perHost }, (_, round) => round).flatMap(round =>
  [dispatch.share, dispatch.shareAlone].map(limit => [limit, round] as const),
)
