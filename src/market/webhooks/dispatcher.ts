/**
 * Empties the outbox: at most two webhooks at a time per host, fair between agents. Source: A-37.
 *
 * The dispatcher is idle, or looks for due deliveries (`#look`), or is closed and only lets end what it has begun. A
 * delivery that it was handed is in one of these states:
 *
 *   held      `take`        claimed by a pass over the queues, or by the commit that wrote it
 *   waiting   `backlog`     its host has no place now
 *   sending   `#send`       in flight; its place is free as soon as the answer is there
 *   noted     `outcomes`    a row says what came of it; the next delivery of its task may go
 *   returned  `#giveBack`   not sent by this claim, and anyone's at once
 */
import { dispatch, durations } from '../../api/limits.ts'
import type { Market } from '../market.ts'
import type { ClaimedDelivery, FirstClaim, WebhookSender } from '../webhook-outlet.ts'
import { attemptDelivery } from './attempt.ts'
import { Backlog, type Waiting } from './backlog.ts'
import { placesFor } from './concurrency.ts'
import { type InFlight, inFlight, targetOf } from './in-flight.ts'
import type { Leases } from './leases.ts'
import { memoryLeases } from './memory-leases.ts'
import { Outcomes } from './outcomes.ts'
import { rowLeases } from './row-leases.ts'
import { Scheduler } from './scheduler.ts'

const TICK_MS = 1000
/** So many agents to look at by name are as good as a pass over all queues. */
const MANY_AGENTS = 32

/** Starts sending. */
export function startDispatcher(market: Market): Dispatcher {
  const dispatcher = new Dispatcher(market)
  market.webhooks.attach(dispatcher)
  dispatcher.tick()
  return dispatcher
}

/** On a database that other processes use too, a claim is a lease in its row; on our own file it is in memory. */
export const leasesOf = (market: Market): Leases => (market.db.shared ? rowLeases(market) : memoryLeases(market))

export class Dispatcher implements WebhookSender {
  readonly #market: Market
  readonly #leases: Leases
  readonly #outcomes: Outcomes
  readonly #inFlight: InFlight
  readonly #scheduler: Scheduler
  readonly #backlog: Backlog

  /** Whose queues the next look is for: those of the named agents, or all. */
  readonly #named = new Set<string>()
  #all = false
  #looking: Promise<void> | null = null
  /** Agents that have another address or secret than the look under way may have seen. */
  readonly #movedMeanwhile = new Set<string>()

  readonly #returned: ClaimedDelivery[] = []
  #returning: Promise<void> = Promise.resolve()
  #closed = false

  constructor(market: Market) {
    this.#market = market
    this.#leases = leasesOf(market)
    this.#outcomes = new Outcomes(market)
    const places = placesFor(market)
    // While the database refuses outcomes, sending more webhooks would only fill the memory.
    const most = () => (this.#outcomes.refused < dispatch.mostRefused ? places() : 0)
    this.#inFlight = inFlight({ world: market.world, most, freed: () => this.#refill() })
    this.#scheduler = new Scheduler(this.#leases, this.#inFlight)
    this.#backlog = new Backlog(this.#inFlight)
  }

  /** Looks now for due deliveries; at one agent's queue, if it is named. */
  wake(agentId?: string): void {
    if (this.#closed) return
    if (agentId === undefined) this.#all = true
    else this.#named.add(agentId)
    this.#looking ??= this.#look()
  }

  claimNew(agent: Parameters<WebhookSender['claimNew']>[0]): FirstClaim | null {
    if (this.#closed || this.#scheduler.hasLeftBehind || this.#inFlight.places() <= 0) return null
    return this.#inFlight.hasPlace(targetOf(agent)) ? this.#leases.claimNew() : null
  }

  take(delivery: ClaimedDelivery): void {
    const to = targetOf(delivery)
    // The first who holds it has it: the look that came too late is followed by another.
    if (!this.#leases.hold(delivery)) this.wake(delivery.agentId)
    else if (this.#isLate(delivery) || this.#movedMeanwhile.has(delivery.agentId)) this.#giveBack(delivery)
    else if (this.#inFlight.places() > 0 && this.#inFlight.hasPlace(to)) this.#send({ delivery, to })
    else if (this.#inFlight.waitingAt(to) < this.#leases.mostWaiting) this.#backlog.add({ delivery, to })
    else {
      this.#scheduler.leaveBehind()
      this.#giveBack(delivery)
    }
  }

  moved(agentId: string): void {
    if (this.#looking) this.#movedMeanwhile.add(agentId)
    this.#giveBack(...this.#backlog.drop(delivery => delivery.agentId === agentId))
  }

  /** Each second: what has come due by the clock alone rings no bell. */
  tick(): void {
    this.#giveBackLate()
    this.#sendWaiting()
    this.wake()
    if (!this.#closed) this.#market.world.after(TICK_MS, () => this.tick())
  }

  /** Lets end what is in flight; takes nothing new. */
  async close(): Promise<void> {
    this.#closed = true
    this.#outcomes.close()
    await this.#looking
    this.#giveBackLate()
    await this.#inFlight.ended()
    await this.#returning
  }

  /** Takes up due deliveries until nobody asks for another look. Never rejects. */
  async #look(): Promise<void> {
    try {
      while ((this.#all || this.#named.size > 0) && !this.#closed) await this.#lookOnce()
    } catch (error) {
      const message = `Webhooks could not be taken up: ${(error as Error).message}`
      this.#market.log({ type: 'error', message })
    } finally {
      // In the same breath as the last question whether another look is wanted, so that no wish falls between the two.
      this.#looking = null
      this.#movedMeanwhile.clear()
    }
  }

  async #lookOnce(): Promise<void> {
    const named = this.#all || this.#named.size > MANY_AGENTS ? null : [...this.#named]
    this.#all = false
    this.#named.clear()
    this.#movedMeanwhile.clear()
    this.#sendWaiting()
    const claimed = await this.#scheduler.claim(named)
    // The named agents had less to send than was thought: others may have a place.
    if (named && this.#scheduler.hasLeftBehind && claimed.length < named.length) this.#all = true
    for (const delivery of claimed) this.take(delivery)
  }

  #send({ delivery, to }: Waiting): void {
    const answered = attemptDelivery(this.#market, delivery)
    const noted = answered
      .then(result => this.#outcomes.write(delivery, result))
      .then(follows => {
        this.#leases.release(delivery)
        return follows
      })
    // Its place is free when the answer is there; the next of its task may go when that is noted.
    this.#inFlight.add(to, answered, noted)
    noted.then(follows => follows && this.wake(delivery.agentId))
  }

  #sendWaiting(): void {
    for (let next = this.#backlog.next(); next; next = this.#backlog.next()) {
      if (this.#isLate(next.delivery)) this.#giveBack(next.delivery)
      else this.#send(next)
    }
  }

  /** A place has come free. */
  #refill(): void {
    this.#sendWaiting()
    if (!this.#scheduler.hasLeftBehind) return
    const next = this.#scheduler.nextInTurn()
    if (next.length === 0) this.wake()
    for (const agentId of next) this.wake(agentId)
  }

  /** Whether its lease could be over before its answer is there: then another sender would send it too. */
  #isLate({ heldUntil }: ClaimedDelivery): boolean {
    return this.#closed || this.#market.world.realNow() + durations.webhookTimeoutMs >= heldUntil
  }

  #giveBackLate(): void {
    this.#giveBack(...this.#backlog.drop(delivery => this.#isLate(delivery)))
  }

  /** One write after the other; each takes all that has gathered by then. */
  #giveBack(...deliveries: ClaimedDelivery[]): void {
    if (deliveries.length === 0) return
    this.#returned.push(...deliveries)
    this.#returning = this.#returning.then(async () => {
      const given = this.#returned.splice(0)
      if (given.length === 0) return
      await this.#leases.giveBack(given).catch(error => {
        const message = `Webhooks in hand wait until their lease is over: ${error.message}`
        this.#market.log({ type: 'error', message })
      })
      for (const { agentId } of given) this.wake(agentId)
    })
  }
}
