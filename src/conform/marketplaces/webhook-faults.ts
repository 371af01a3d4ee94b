/**
 * What may happen to a webhook on its way to the agent. A fault is prepared for one event of one task, and used up by it. What it changes
 * it signs anew, unless the point is that the signature is wrong.
 */
import { webhookHeaders } from '../../api/webhook-request.ts'
import { accepted, held, overtakenUntil, type Sent as SentAlike } from '../../sim/webhooks/faults.ts'
import type { Forgery } from '../../sim/webhooks/forgeries.ts'
import type { Dress } from '../../sim/webhooks/unusual.ts'
import type { OutgoingResult } from '../../world/world.ts'
import { machineNow } from '../history/machine-time.ts'

export { accepted, answerLost, copiedAfter, copiedAtOnce, webhookLost } from '../../sim/webhooks/faults.ts'

/** A webhook as the marketplace is about to send it. */
export interface OutgoingWebhook {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly secret: string
  readonly deliveryId: string
  readonly attempt: number
  readonly sentAt: number
}

export interface Sent extends SentAlike {
  /** What a busy agent gets next time in its place; unless given, the same bytes. */
  readonly renewed?: (attempt: number) => OutgoingWebhook
}

/** Sends it to the agent and records it; again while the agent is busy. */
export type SendWebhook = (webhook: OutgoingWebhook, sent?: Sent) => Promise<OutgoingResult>

export interface WebhookFault {
  readonly name: string
  /** Returns what the marketplace learns of the attempt. */
  play(webhook: OutgoingWebhook, send: SendWebhook): Promise<OutgoingResult>
}

/** The agent never gets it. */
export const withheld: WebhookFault = { name: 'withheld', play: async () => accepted }

/** It goes out only when `until` resolves. */
export const heldUntil = (until: Promise<unknown>): WebhookFault => held(() => until, signedNow)

/** Others overtake it: the marketplace takes it for delivered and goes on, and the agent gets it when `until` resolves. */
export const overtaken = (until: Promise<unknown>): WebhookFault =>
  overtakenUntil(
    () => until,
    (webhook: OutgoingWebhook, attempt) => signedNow({ ...webhook, attempt }),
  )

/** A stranger sends something under its id first. */
export const precededBy = (forgery: Pick<Forgery, 'name' | 'forge'>): WebhookFault => ({
  name: `preceded by ${forgery.name}`,
  async play(webhook, send) {
    await send({ ...webhook, ...forgery.forge(webhook) }, { change: forgery.name, genuine: false })
    return send(signedNow(webhook))
  },
})

/** The agent gets this in its place. Whoever ignores what is forged keeps nobody waiting: the marketplace hears of nothing. */
export const forgedAs = ({ name, forge }: Pick<Forgery, 'name' | 'forge'>): WebhookFault => ({
  name,
  async play(webhook, send) {
    void send({ ...webhook, ...forge(webhook) }, { change: name, genuine: false })
    return accepted
  },
})

/** The marketplace believes it sent. The scenario has it in hand, and sends it in its own way. */
export const takenBy = (take: (webhook: OutgoingWebhook) => void): WebhookFault => ({
  name: 'taken',
  async play(webhook) {
    take(webhook)
    return accepted
  },
})

function sendChanged(
  webhook: OutgoingWebhook,
  { send, change, make }: { send: SendWebhook; change: string; make(again: OutgoingWebhook): OutgoingWebhook },
): Promise<OutgoingResult> {
  const first = make(webhook)
  const renewed = (attempt: number) => make({ ...webhook, attempt: first.attempt + attempt - 1 })
  return send(first, { change, genuine: true, renewed })
}

/** It looks unusual, and is rightly signed. */
export const dressedAs = ({ name: change, dress }: Dress): WebhookFault => ({
  name: change,
  play(webhook, send) {
    const { body, signedBeforeMs = 0, attempt = webhook.attempt, contentType } = dress(JSON.parse(webhook.body))
    const make = (again: OutgoingWebhook) => {
      const at = { attempt: Math.max(attempt, again.attempt), sentAt: machineNow() - signedBeforeMs }
      const dressed = { ...again, body, ...at }
      const headers = { ...webhookHeaders(again.secret, dressed), ...(contentType && { 'content-type': contentType }) }
      return { ...dressed, headers }
    }
    return sendChanged(webhook, { send, change, make })
  },
})

/** It is signed so long before or after now. */
export const signedAt = (change: string, offsetMs: number): WebhookFault => ({
  name: change,
  play(webhook, send) {
    const make = (again: OutgoingWebhook) => {
      const moved = { ...again, sentAt: machineNow() + offsetMs }
      return { ...moved, headers: webhookHeaders(moved.secret, moved) }
    }
    return sendChanged(webhook, { send, change, make })
  },
})

/** The body is another, and rightly signed. */
export const bodyChanged = (change: string, changed: (body: string) => string): WebhookFault => ({
  name: change,
  play: (webhook, send) =>
    sendChanged(webhook, { send, change, make: again => signedNow({ ...again, body: changed(again.body) }) }),
})

/** Signs what it has become, now. */
export function signedNow(webhook: OutgoingWebhook): OutgoingWebhook {
  const again = { ...webhook, sentAt: machineNow() }
  return { ...again, headers: webhookHeaders(again.secret, again) }
}
