/** Which webhooks are sent next: what is due, fair between agents. Source: A-37. */
import { dispatch } from '../../api/limits.ts'
import type { QueuedAgent } from '../../store/tables/outbox.ts'
import type { ClaimedDelivery } from '../webhook-outlet.ts'
import { counter, type InFlight, type Target, targetOf } from './in-flight.ts'
import type { Leases, Look } from './leases.ts'

/** Agents that one pass over the queues reads at a time, and how often it does once it has found one that may be served. */
const PAGE = 32
const PAGES = 2

/** An agent with something due, and where it goes. */
interface DueAgent extends QueuedAgent {
  readonly to: Target
}

export class Scheduler {
  readonly #leases: Leases
  readonly #inFlight: InFlight
  /** The agent that was served last: the next pass over all queues begins behind it. */
  #lastServed: string
  #hasLeftBehind = false
  /** Agents with something due that the last pass over all queues came to after there was no place left. */
  #next: string[] = []

  constructor(leases: Leases, inFlight: InFlight, lastServed = '') {
    this.#leases = leases
    this.#inFlight = inFlight
    this.#lastServed = lastServed
  }

  /** Whether something due may have found no place: then the next one that is free is worth a pass over all queues. */
  get hasLeftBehind(): boolean {
    return this.#hasLeftBehind
  }

  leaveBehind(): void {
    this.#hasLeftBehind = true
  }

  /** Agents whose turn is next, as many as there are places; none if nobody knows whose it is. */
  nextInTurn(): string[] {
    return this.#next.splice(0, Math.max(1, this.#inFlight.places()))
  }

  /** Claims what may be sent now: of the named agents' queues, or of all. */
  async claim(named: readonly string[] | null): Promise<ClaimedDelivery[]> {
    this.#leases.begin()
    if (named === null) this.#hasLeftBehind = false
    if (this.#inFlight.places() <= 0) {
      this.leaveBehind()
      return []
    }
    if (named) return this.#leases.look(async look => this.#takeUp(look, (await look.dueOf(named)).map(withTarget)))
    const due = await this.#dueInTurn()
    return due.length === 0 ? [] : this.#leases.look(look => this.#takeUp(look, due))
  }

  async #takeUp(look: Look, due: readonly DueAgent[]): Promise<ClaimedDelivery[]> {
    const { counts, lastServed } = share(due, this.#inFlight)
    this.#lastServed = lastServed ?? this.#lastServed
    const take = async ({ agentId, builderId, webhookUrl, secret }: QueuedAgent) => {
      const count = counts.get(agentId) ?? 0
      const found = count === 0 ? [] : await look.take(agentId, count)
      // As many as were asked for: there may be more.
      if (found.length === count) this.leaveBehind()
      return found.map(row => ({ ...row, builderId, webhookUrl, secret }))
    }
    return (await Promise.all(due.map(take))).flat()
  }

  /** Agents with something due and a host that has room, from behind the one served last, once around at most. */
  async #dueInTurn(): Promise<DueAgent[]> {
    const due: DueAgent[] = []
    const taken = counter()
    const begin = this.#lastServed
    let after = begin
    let around = begin === ''
    for (let pages = 1; ; pages++) {
      const page = await this.#leases.queued(after, PAGE)
      for (const [at, agent] of page.entries()) {
        if (around && begin !== '' && agent.agentId > begin) return due
        if (!agent.due) continue
        this.#consider(agent, due, taken)
        if (due.length < this.#inFlight.places()) continue
        this.leaveBehind()
        this.#next = page.slice(at + 1).flatMap(({ due, agentId }) => (due === 1 ? [agentId] : []))
        return due
      }
      // Places that no share has room for would have it read on through everyone. The next pass begins where this one ends.
      if (due.length > 0 && pages === PAGES) {
        this.leaveBehind()
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

  /** Adds the agent to those that are served, if its host has room for one more beside `taken`. */
  #consider(queued: QueuedAgent, due: DueAgent[], taken: ReturnType<typeof counter>): void {
    const agent = withTarget(queued)
    const { to } = agent
    if (this.#inFlight.roomAt(to) > taken.of(to.host) && this.#inFlight.fits(to, dispatch.shareAlone, taken.of)) {
      due.push(agent)
      taken.add([to.host, ...to.keys], 1)
    } else this.leaveBehind()
  }
}

const withTarget = (agent: QueuedAgent): DueAgent => ({ ...agent, to: targetOf(agent) })

/**
 * How many each agent may send now, and who of them came last: one each in turn, then a second where its host has room
 * left. No account and no domain gets more than its share, unless places are left over.
 */
export function share(
  due: readonly Pick<DueAgent, 'agentId' | 'to'>[],
  inFlight: Pick<InFlight, 'roomAt' | 'fits' | 'places'>,
): { counts: Map<string, number>; lastServed: string | undefined } {
  const counts = new Map<string, number>()
  const taken = counter()
  let lastServed: string | undefined
  let room = inFlight.places()
  for (const [limit, round] of ROUNDS) {
    for (const { agentId, to } of due) {
      if (room <= 0) return { counts, lastServed }
      const count = counts.get(agentId) ?? 0
      if (count > round || inFlight.roomAt(to) <= taken.of(to.host)) continue
      if (!inFlight.fits(to, limit, taken.of)) continue
      counts.set(agentId, count + 1)
      taken.add([to.host, ...to.keys], 1)
      lastServed = agentId
      room--
    }
  }
  return { counts, lastServed }
}

const ROUNDS = Array.from({ length: dispatch.perHost }, (_, round) => round).flatMap(round =>
  [dispatch.share, dispatch.shareAlone].map(limit => [limit, round] as const),
)
