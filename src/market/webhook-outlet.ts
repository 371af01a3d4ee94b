/** The way of an event from the verb that wrote it to what sends it. */
import type { DeliveryRow, QueuedAgent } from '../store/tables/outbox.ts'

/** A delivery that one sender alone may send. */
export interface HeldDelivery extends DeliveryRow {
  /** The number of the attempt that it is held for; `attempts` is what its row says meanwhile. */
  attempt: number
  /** Real ms; infinity where nobody else could take it. */
  heldUntil: number
}

/** A held delivery with its agent's address and sealed secret. */
export interface ClaimedDelivery extends HeldDelivery, Pick<QueuedAgent, 'builderId' | 'webhookUrl' | 'secret'> {}

/** What the row of a new delivery says where it is held from its beginning. */
export interface FirstClaim extends Pick<HeldDelivery, 'attempts' | 'heldUntil'> {
  /** Real ms. */
  leasedUntil: number
}

/** What sends webhooks. Call it only for writes that are committed, `claimNew` apart. */
export interface WebhookSender {
  /** There is something to send to this agent. */
  wake(agentId: string): void
  /** The agent has another address or secret: deliveries held under the old one are read anew. */
  moved(agentId: string): void
  /** How a new event for this address is written as claimed; null if it has to wait for others. */
  claimNew(agent: Pick<QueuedAgent, 'builderId' | 'webhookUrl'>): FirstClaim | null
  /** Takes over a delivery that was written as claimed. */
  take(delivery: ClaimedDelivery): void
}

/** Part of every marketplace. Until a sender is attached, events wait in their rows. */
export class WebhookOutlet implements WebhookSender {
  #sender: WebhookSender | null = null

  attach(sender: WebhookSender): void {
    this.#sender = sender
  }

  wake(agentId: string): void {
    this.#sender?.wake(agentId)
  }

  moved(agentId: string): void {
    this.#sender?.moved(agentId)
  }

  claimNew(agent: Pick<QueuedAgent, 'builderId' | 'webhookUrl'>): FirstClaim | null {
    return this.#sender?.claimNew(agent) ?? null
  }

  take(delivery: ClaimedDelivery): void {
    this.#sender?.take(delivery)
  }
}
