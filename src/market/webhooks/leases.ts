/** Who may send a webhook now: one sender at a time. Source: A-37. */
import type { QueuedAgent } from '../../store/tables/outbox.ts'
import type { FirstClaim, HeldDelivery } from '../webhook-outlet.ts'

/** One pass over the queues. */
export interface Look {
  /** Of these agents, those that have something due which nobody holds. */
  dueOf(agentIds: readonly string[]): Promise<QueuedAgent[]>
  /** Takes up to `count` of one agent. */
  take(agentId: string, count: number): Promise<HeldDelivery[]>
}

export interface Leases {
  /** So many of one host are better kept until a place is free than given back. */
  readonly mostWaiting: number
  /** Begins a new pass: what is found from now on is held, or left, before the next one begins. */
  begin(): void
  look<T>(work: (look: Look) => Promise<T>): Promise<T>
  /** Up to `count` agents with something to send now or later, by their ids, behind `after`. */
  queued(after: string, count: number): Promise<QueuedAgent[]>
  claimNew(): FirstClaim
  /** False if it is held already, or was until a moment ago: a pass may tell of it late. */
  hold(delivery: HeldDelivery): boolean
  /** The outcome of the attempt is noted, or never will be. */
  release(delivery: HeldDelivery): void
  /** Takes claims back as if they had not been. Of held deliveries alone. */
  giveBack(deliveries: readonly HeldDelivery[]): Promise<unknown>
}
