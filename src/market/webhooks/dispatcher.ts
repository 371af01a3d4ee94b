/**
 * Sends the deliveries of the outbox: at most two at a time to one host, and fairly between agents. Source: A-37.
 *
 * The dispatcher is idle, or it looks for due deliveries (`#look`), or it is closed and waits for what is in flight.
 * Each delivery that it has claimed is in one of these states:
 *
 *   claimed   `#place`      by a pass over the queues, or by the commit that wrote the delivery
 *   waiting   `backlog`     its host has no free slot
 *   sending   `#send`       in flight; its slot is free again as soon as the response has come
 *   noted     `outcomes`    a row has the outcome; the next delivery of the same task may be sent
 *   returned  `#giveBack`   not sent under this claim; any sender may claim it
 */

import { dispatch } from '../../api/dispatch.ts'
import { isTold } from '../../store/db.ts'
import { Activity } from '../activity.ts'
import type { Market } from '../market.ts'
import type { ClaimedDelivery, FirstClaim, WebhookSender } from '../webhook-outlet.ts'
import { attemptDelivery } from './attempt.ts'
import { Backlog, InFlight, slotLimit } from './in-flight.ts'
import type { Leases } from './leases.ts'
import { MemoryLeases } from './memory-leases.ts'
import { Outcomes } from './outcomes.ts'
import { rowLeases } from './row-leases.ts'
import { Scheduler } from './scheduler.ts'
import { type TargetedDelivery, targetOf } from './target.ts'

const TICK_MS = 1000
/** With more agents than this to look at by name, one pass over all queues costs less. */
const MANY_AGENTS = 32

export function startDispatcher(market: Market): Dispatcher {
  const dispatcher = new Dispatcher(market)
  market.webhooks.attach(dispatcher)
  dispatcher.open()
  return dispatcher
}

/**
 * A claim is a lease in the delivery's row where other processes share the database. On a file of our own it is in memory.
 * @internal Tests claim without a dispatcher.
 */
export const leasesOf = (market: Market): Leases => (market.db.shared ? rowLeases(market) : new MemoryLeases(market))

export class Dispatcher implements WebhookSender {
  readonly #market: Market
  readonly #leases: Leases
  readonly #outcomes: Outcomes
  readonly #inFlight: InFlight
  readonly #scheduler: Scheduler
  readonly #backlog: Backlog
  readonly #activity: Activity

  /** The agents whose queues the next look reads, unless it reads all. */
  readonly #named = new Set<string>()
  #all = false
  #looking: Promise<void> | null = null
  /** Agents whose URL or secret changed during the look under way, which may have read the old one. */
  readonly #changedMeanwhile = new Set<string>()

  readonly #returned: ClaimedDelivery[] = []
  /** Returns claims; null if none is being returned. */
  #returning: Promise<void> | null = null
  #closed = false

  constructor(market: Market) {
    this.#market = market
    this.#leases = leasesOf(market)
    this.#outcomes = new Outcomes(market)
    const slots = slotLimit(market)
    // While the database refuses outcomes, each webhook that is sent stays in memory. So no more are sent.
    const limit = () => (this.#outcomes.refused < dispatch.mostRefused ? slots() : 0)
    this.#inFlight = new InFlight({ world: market.world, limit, onFree: () => this.#refill() })
    this.#scheduler = new Scheduler(this.#leases, this.#inFlight)
    this.#backlog = new Backlog(this.#inFlight)
    this.#activity = market.memory.of(Activity)
  }

  open(): void {
    this.#leases.open(() => this.wake())
    this.tick()
  }

  /** Looks for due deliveries now: in one agent's queue if it is named, else in all. */
  wake(agentId?: string): void {
    if (this.#closed) return
    if (agentId === undefined) this.#all = true
    else this.#named.add(agentId)
    this.#looking ??= this.#look()
  }

  claimNew(agent: Parameters<WebhookSender['claimNew']>[0]): FirstClaim | null {
    if (this.#closed || !this.#leases.mayClaim) return null
    if (this.#scheduler.hasUnserved || this.#inFlight.freeSlots() <= 0) return null
    return this.#inFlight.hasSlot(targetOf(agent)) ? this.#leases.claimNew() : null
  }

  dispatch(delivery: ClaimedDelivery): void {
    this.#place({ delivery, to: targetOf(delivery) })
  }

  targetChanged(agentId: string): void {
    if (this.#looking) this.#changedMeanwhile.add(agentId)
    this.#giveBack(...this.#backlog.drop(delivery => delivery.agentId === agentId))
  }

  /** Runs each second, because nothing wakes the dispatcher when a delivery falls due by the clock alone. */
  tick(): void {
    this.#giveBackExpiring()
    this.#sendWaiting()
    this.wake()
    if (!this.#closed) this.#market.world.after(TICK_MS, () => this.tick())
  }

  /** Whether no look is under way, nothing is in flight and no claim is being returned. */
  get isIdle(): boolean {
    return this.#looking === null && this.#inFlight.isEmpty && this.#returning === null
  }

  /**
   * Sends what is due, and resolves when the outcome of each is written. Not awaited is what may not be sent now, as where
   * the database refuses outcomes.
   */
  async settled(): Promise<void> {
    this.wake()
    while (!this.isIdle) {
      await this.#looking
      await this.#inFlight.ended()
      await this.#returning
    }
  }

  /** Claims nothing new and waits for what is in flight. */
  async close(): Promise<void> {
    this.#closed = true
    this.#outcomes.close()
    await this.#looking
    this.#giveBackExpiring()
    await this.#inFlight.ended()
    await this.#returning
    await this.#leases.close()
  }

  /** Claims due deliveries until no other look is wanted. Never rejects. */
  async #look(): Promise<void> {
    try {
      while ((this.#all || this.#named.size > 0) && !this.#closed) await this.#lookOnce()
    } catch (error) {
      const message = `Webhooks could not be taken up: ${(error as Error).message}`
      if (!isTold(error)) this.#market.log({ type: 'error', message })
    } finally {
      // No `await` separates this from the last check of the loop, so no call of `wake` can be lost between them.
      this.#looking = null
      this.#changedMeanwhile.clear()
    }
  }

  async #lookOnce(): Promise<void> {
    const named = this.#all || this.#named.size > MANY_AGENTS ? null : [...this.#named]
    this.#all = false
    this.#named.clear()
    this.#changedMeanwhile.clear()
    this.#sendWaiting()
    const claimed = await this.#scheduler.claim(named)
    // Some of the named agents had nothing to send, so there may be slots for others.
    if (named && this.#scheduler.hasUnserved && claimed.length < named.length) this.#all = true
    for (const targeted of claimed) this.#place(targeted)
  }

  /** Sends the delivery, keeps it until its host has a free slot, or returns the claim. */
  #place(targeted: TargetedDelivery): void {
    const { delivery, to } = targeted
    // Another claim of the same delivery was first. What else is due for the agent needs another look.
    if (!this.#leases.acquire(delivery)) this.wake(delivery.agentId)
    else if (this.#isExpiring(delivery) || this.#changedMeanwhile.has(delivery.agentId)) this.#giveBack(delivery)
    else if (this.#maySend && this.#inFlight.hasSlot(to)) this.#send(targeted)
    else if (this.#inFlight.waitingAt(to) < this.#leases.maxWaiting) this.#backlog.add(targeted)
    else {
      this.#scheduler.markUnserved()
      this.#giveBack(delivery)
    }
  }

  #send({ delivery, to }: TargetedDelivery): void {
    const answered = attemptDelivery(this.#market, delivery)
    const noted = answered
      .then(result => this.#outcomes.write(delivery, result))
      .then(follows => {
        this.#leases.release(delivery)
        return follows
      })
    // The slot is free when the response has come. The next delivery of the task waits until the outcome is written.
    this.#inFlight.add(to, answered, noted)
    const end = this.#activity.begin('webhook', delivery.id)
    noted.then(follows => {
      if (follows) this.wake(delivery.agentId)
      end()
    })
  }

  /** While it may not claim, what it has claimed waits: it still has it, or learns soon that it has not. */
  get #maySend(): boolean {
    return this.#inFlight.freeSlots() > 0 && this.#leases.mayClaim
  }

  #sendWaiting(): void {
    if (!this.#maySend) return
    for (let next = this.#backlog.next(); next; next = this.#backlog.next()) {
      if (this.#isExpiring(next.delivery)) this.#giveBack(next.delivery)
      else this.#send(next)
    }
  }

  /** Runs when a slot has become free. */
  #refill(): void {
    this.#sendWaiting()
    if (!this.#scheduler.hasUnserved) return
    const next = this.#scheduler.dequeueNext()
    if (next.length === 0) this.wake()
    for (const agentId of next) this.wake(agentId)
  }

  /** Whether the claim is over, or could be before a response comes: then another sender would send the delivery too. */
  #isExpiring(delivery: ClaimedDelivery): boolean {
    return this.#closed || !this.#leases.isValid(delivery)
  }

  #giveBackExpiring(): void {
    this.#giveBack(...this.#backlog.drop(delivery => this.#isExpiring(delivery)))
  }

  /** Returns claims by one write at a time. Each write takes all that have gathered by then. */
  #giveBack(...deliveries: ClaimedDelivery[]): void {
    if (deliveries.length === 0) return
    this.#returned.push(...deliveries)
    this.#returning ??= this.#returnClaims()
  }

  async #returnClaims(): Promise<void> {
    await null // claims that are returned in the same turn share a write
    while (this.#returned.length > 0) {
      const given = this.#returned.splice(0)
      await this.#leases.giveBack(given).catch(error => {
        const message = `Claimed webhooks could not be returned, so they wait until their lease ends: ${error.message}`
        this.#market.log({ type: 'error', message })
      })
      for (const { agentId } of given) this.wake(agentId)
    }
    // No `await` separates this from the last check of the loop, so no claim can be left between them.
    this.#returning = null
  }
}
