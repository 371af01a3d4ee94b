/** Connects the verbs that write events with the dispatcher that sends them. */
import type { FirstClaim as ClaimInRow, DeliveryRow, QueuedAgent } from '../store/tables/webhooks/outbox.ts'

/** A delivery that one sender has claimed, so that no other may send it. */
export interface LeasedDelivery extends DeliveryRow {
  /** The number of the attempt that it is claimed for. `attempts` is what its row says meanwhile. */
  attempt: number
  /** Real ms. Infinity where no other process could claim it. */
  claimedUntil: number
  /** This instance as it was when it claimed the delivery; null where no other process could. */
  sender: string | null
}

/** A claimed delivery with its agent's URL and sealed secret. */
export interface ClaimedDelivery extends LeasedDelivery, Pick<QueuedAgent, 'builderId' | 'webhookUrl' | 'secret'> {}

/** What the row of a new delivery says if a sender claims it in the transaction that writes it. */
export type FirstClaim = Pick<LeasedDelivery, 'attempts' | 'claimedUntil' | 'sender'> & ClaimInRow

/** What sends webhooks. Every method but `claimNew` is only for writes that are committed. */
export interface WebhookSender {
  /** Looks for due deliveries of this agent. */
  wake(agentId: string): void
  /** Returns claimed deliveries of an agent whose URL or secret has changed, so that they are sent with the new one. */
  targetChanged(agentId: string): void
  /** Returns how to write a new delivery as claimed; null if it has to wait in its queue. */
  claimNew(agent: Pick<QueuedAgent, 'builderId' | 'webhookUrl'>): FirstClaim | null
  /** Sends a delivery that was written as claimed. */
  dispatch(delivery: ClaimedDelivery): void
}

/** Passes calls to the sender. Until one is attached, events wait in their rows. */
export class WebhookOutlet implements WebhookSender {
  #sender: WebhookSender | null = null
  #onTargetChanged: (agentId: string) => void = () => {}

  attach(sender: WebhookSender): void {
    this.#sender = sender
  }

  /** Calls `listener` after each committed change of an agent's URL or secret in this process. */
  watchTargets(listener: (agentId: string) => void): void {
    this.#onTargetChanged = listener
  }

  wake(agentId: string): void {
    this.#sender?.wake(agentId)
  }

  targetChanged(agentId: string): void {
    this.#sender?.targetChanged(agentId)
    this.#onTargetChanged(agentId)
  }

  claimNew(agent: Pick<QueuedAgent, 'builderId' | 'webhookUrl'>): FirstClaim | null {
    return this.#sender?.claimNew(agent) ?? null
  }

  dispatch(delivery: ClaimedDelivery): void {
    this.#sender?.dispatch(delivery)
  }
}
