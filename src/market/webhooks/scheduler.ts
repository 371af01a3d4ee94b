/** Chooses which due webhooks are sent next, fairly between agents. Source: A-37. */
import { dispatch } from '../../api/dispatch.ts'
import type { QueuedAgent } from '../../store/tables/webhooks/outbox.ts'
import { type Counter, counter, type InFlight } from './in-flight.ts'
import type { Leases, Pass, Queued } from './leases.ts'
import { type Target, type TargetedDelivery, targetOf } from './target.ts'

/** The fewest and the most agents that a pass reads at a time. */
const LEAST = 8
const PAGE = 32
/** After so many agents a pass stops, if it has found any that may be served. */
const ENOUGH = 64

/** An agent with a due delivery, and its target. */
interface DueAgent {
  readonly agent: QueuedAgent
  readonly to: Target
}

export class Scheduler {
  readonly #leases: Leases
  readonly #inFlight: InFlight
  /** The agent that was served last. The next pass over all queues begins after it. */
  #lastServed: string
  #hasUnserved = false
  /** Agents with a due delivery that the last pass over all queues read after the last free slot was taken. */
  #next: string[] = []

  constructor(leases: Leases, inFlight: InFlight, lastServed = '') {
    this.#leases = leases
    this.#inFlight = inFlight
    this.#lastServed = lastServed
  }

  /** Whether a due delivery may have found no slot. If so, the next free slot is worth a pass over all queues. */
  get hasUnserved(): boolean {
    return this.#hasUnserved
  }

  markUnserved(): void {
    this.#hasUnserved = true
  }

  /**
   * Returns the agents to serve next, as many as there are free slots. Returns none if a pass over all queues has to find
   * them.
   */
  dequeueNext(): string[] {
    return this.#next.splice(0, Math.max(1, this.#inFlight.freeSlots()))
  }

  /** Claims what may be sent now from the queues of the named agents, or from all queues if `named` is null. */
  async claim(named: readonly string[] | null): Promise<TargetedDelivery[]> {
    this.#leases.begin()
    if (named === null) this.#hasUnserved = false
    if (this.#inFlight.freeSlots() <= 0) {
      this.markUnserved()
      return []
    }
    if (named)
      return this.#leases.pass(async pass => this.#claimShares(pass, (await pass.dueOf(named)).map(withTarget)))
    return this.#leases.passOverAll(
      queued => this.#findDue(queued),
      (pass, due) => this.#claimShares(pass, due),
    )
  }

  async #claimShares(pass: Pass, due: readonly DueAgent[]): Promise<TargetedDelivery[]> {
    const { counts, lastServed } = divideSlots(due, this.#inFlight)
    this.#lastServed = lastServed ?? this.#lastServed
    const claimOf = async ({ agent, to }: DueAgent) => {
      const count = counts.get(agent.agentId) ?? 0
      const found = count === 0 ? [] : await pass.claim(agent, count)
      // The queue had as many as were asked for, so it may have more.
      if (found.length === count) this.markUnserved()
      return found.map(delivery => ({ delivery, to }))
    }
    return (await Promise.all(due.map(claimOf))).flat()
  }

  /**
   * Finds agents with a due delivery and a host that has a free slot. Starts after the agent served last and goes around
   * once at most.
   */
  async #findDue(queued: Queued): Promise<DueAgent[]> {
    const due: DueAgent[] = []
    const taken = counter()
    const begin = this.#lastServed
    let after = begin
    let around = begin === ''
    for (let read = 0; ; ) {
      const count = this.#countToRead(due.length, read)
      const page = await queued(after, count)
      read += page.length
      if (this.#fill(due, taken, page, around ? begin : '')) return due
      // Slots that no share may take would make this read the queues of all agents. So it stops here, and the next pass
      // goes on.
      if (due.length > 0 && read >= ENOUGH) {
        this.markUnserved()
        return due
      }
      if (page.length === count) after = page.at(-1)!.agentId
      else if (around) return due
      else {
        around = true
        after = ''
      }
    }
  }

  /** Takes from a page what there is room for. True if nothing more is to be read: all slots are taken, or `end` is passed. */
  #fill(due: DueAgent[], taken: Counter, page: readonly QueuedAgent[], end: string): boolean {
    const room = this.#inFlight.freeSlots()
    for (const [at, agent] of page.entries()) {
      if (end !== '' && agent.agentId > end) return true
      if (!agent.due) continue
      this.#consider(agent, due, taken)
      if (due.length < room) continue
      this.markUnserved()
      this.#next = page.slice(at + 1).flatMap(({ due, agentId }) => (due === 1 ? [agentId] : []))
      return true
    }
    return false
  }

  /** As many as there are slots for. A pass that has read some agents and found none for a slot reads on in large pages. */
  #countToRead(found: number, read: number): number {
    if (found === 0 && read > 0) return PAGE
    return Math.min(PAGE, Math.max(LEAST, this.#inFlight.freeSlots() - found))
  }

  /** Adds the agent to `due` if its host and its shares have room for one more besides `taken`. */
  #consider(agent: QueuedAgent, due: DueAgent[], taken: Counter): void {
    const to = targetOf(agent)
    if (
      this.#inFlight.freeSlotsAt(to) > taken.of(to.host) &&
      this.#inFlight.withinShares(to, dispatch.shareAlone, taken.of)
    ) {
      due.push({ agent, to })
      taken.add([to.host, ...to.keys], 1)
    } else this.markUnserved()
  }
}

const withTarget = (agent: QueuedAgent): DueAgent => ({ agent, to: targetOf(agent) })

/**
 * Returns how many deliveries each agent may send now, and which agent was served last. Each agent gets one, then a second
 * one where its host has a free slot. No account and no domain gets more than its share unless slots are left over.
 * @internal Tested by itself.
 */
export function divideSlots(
  due: readonly { agent: Pick<QueuedAgent, 'agentId'>; to: Target }[],
  inFlight: Pick<InFlight, 'freeSlotsAt' | 'withinShares' | 'freeSlots'>,
): { counts: Map<string, number>; lastServed: string | undefined } {
  const counts = new Map<string, number>()
  const taken = counter()
  let lastServed: string | undefined
  let room = inFlight.freeSlots()
  for (const [limit, round] of ROUNDS) {
    for (const { agent, to } of due) {
      if (room <= 0) return { counts, lastServed }
      const { agentId } = agent
      const count = counts.get(agentId) ?? 0
      if (count > round || inFlight.freeSlotsAt(to) <= taken.of(to.host)) continue
      if (!inFlight.withinShares(to, limit, taken.of)) continue
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
