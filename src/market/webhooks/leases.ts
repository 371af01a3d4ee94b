/** Who may send a webhook now: one sender at a time. Source: A-37. */
import type { QueuedAgent } from '../../store/tables/webhooks/outbox.ts'
import type { ClaimedDelivery, FirstClaim, LeasedDelivery } from '../webhook-outlet.ts'

/** One pass over the queues of agents. */
export interface Pass {
  /** Returns those of these agents that have a due delivery which no sender has claimed. */
  dueOf(agentIds: readonly string[]): Promise<QueuedAgent[]>
  /** Claims up to `count` deliveries of one agent. */
  claim(agent: QueuedAgent, count: number): Promise<ClaimedDelivery[]>
}

/** Returns up to `count` agents with pending deliveries, due or not, ordered by id and after the id `after`. */
export type Queued = (after: string, count: number) => Promise<QueuedAgent[]>

export interface Leases {
  /** Up to this many claimed deliveries of one host are kept until a slot is free; further ones are given back. */
  readonly maxWaiting: number
  /** Whether this sender may claim and send now. Otherwise others may take it for gone. */
  readonly mayClaim: boolean
  /** `freed` is called when claims of a sender that is gone have become free. */
  open(freed: () => void): void
  /** Frees what this sender still has claimed. */
  close(): Promise<void>
  /** Whether the claim surely holds for as long as an attempt may take. */
  isValid(delivery: LeasedDelivery): boolean
  /** Begins a new pass. What a pass finds is claimed or left before the next pass begins. */
  begin(): void
  pass<T>(work: (pass: Pass) => Promise<T>): Promise<T>
  /** A pass over all queues: `find` chooses agents, and `claim` is called if there are any. */
  passOverAll<Due, T>(
    find: (queued: Queued) => Promise<Due[]>,
    claim: (pass: Pass, due: readonly Due[]) => Promise<T[]>,
  ): Promise<T[]>
  /** Returns what a new delivery's row says if this sender claims it at once. */
  claimNew(): FirstClaim
  /** Returns false if the delivery is claimed already, or was released during this pass, which may have read it before. */
  acquire(delivery: LeasedDelivery): boolean
  /** Ends a claim whose outcome is written, or never will be. */
  release(delivery: LeasedDelivery): void
  /** Undoes claims of deliveries that were not sent. */
  giveBack(deliveries: readonly LeasedDelivery[]): Promise<unknown>
}
