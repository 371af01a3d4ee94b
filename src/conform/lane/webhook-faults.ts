/**
 * What may happen to a webhook on its way to the agent. A fault is prepared for one event of one task, and used up by it. What it changes
 * it signs anew, unless the point is that the signature is wrong.
 */
import { webhookHeaders } from '../../api/webhook-request.ts'
import type { Forgery } from '../../sim/forgeries.ts'
import type { Dress } from '../../sim/unusual-webhooks.ts'
import type { OutgoingResult } from '../../world/world.ts'
import { machineNow, pause } from '../time.ts'

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

/** How what is sent differs from that. */
export interface Sent {
  readonly change: string | null
  /** A right agent accepts it. */
  readonly genuine: boolean
}

/** Sends it to the agent and records it. */
export type SendWebhook = (webhook: OutgoingWebhook, sent?: Sent) => Promise<OutgoingResult>

export interface WebhookFault {
  readonly name: string
  /** Returns what the marketplace learns of the attempt. */
  play(webhook: OutgoingWebhook, send: SendWebhook): Promise<OutgoingResult>
}

/** What the marketplace hears of an attempt whose answer was lost: it will try again. */
const lost: OutgoingResult = { ok: false, reason: 'reset', message: 'The connection was reset', durationMs: 0 }
/** It will not. */
export const accepted: OutgoingResult = { ok: true, status: 200, headers: {}, body: '', durationMs: 0 }

const copyOf: Sent = { change: 'copy', genuine: true }

/** The same bytes once more, `ms` after the first were answered. */
export const copiedAfter = (ms: number): WebhookFault => ({
  name: 'copy',
  async play(webhook, send) {
    const result = await send(webhook)
    await pause(ms)
    await send(webhook, copyOf)
    return result
  },
})

/** The same bytes twice, at once. */
export const copiedAtOnce: WebhookFault = {
  name: 'copy at once',
  async play(webhook, send) {
    const [result] = await Promise.all([send(webhook), send(webhook, copyOf)])
    return result!
  },
}

/** The agent gets it, and the marketplace not the answer: it sends it again with the same id and a new signature. */
export const answerLost: WebhookFault = {
  name: 'answer lost',
  async play(webhook, send) {
    await send(webhook)
    return lost
  },
}

/** It gets lost on the way. The marketplace sends it again. */
export const webhookLost: WebhookFault = { name: 'webhook lost', play: async () => lost }

/** The agent never gets it. */
export const withheld: WebhookFault = { name: 'withheld', play: async () => accepted }

/** It goes out only when `until` resolves. */
export const heldUntil = (until: Promise<unknown>): WebhookFault => ({
  name: 'held',
  async play(webhook, send) {
    await until
    return send(signedNow(webhook))
  },
})

/** Others overtake it: the marketplace takes it for delivered and goes on, and the agent gets it when `until` resolves. */
export const overtaken = (until: Promise<unknown>): WebhookFault => ({
  name: 'overtaken',
  async play(webhook, send) {
    until.then(() => send(signedNow(webhook)))
    return accepted
  },
})

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
export class Taken implements WebhookFault {
  readonly name = 'taken'
  #take!: (webhook: OutgoingWebhook) => void
  readonly webhook = new Promise<OutgoingWebhook>(resolve => {
    this.#take = resolve
  })

  async play(webhook: OutgoingWebhook): Promise<OutgoingResult> {
    this.#take(webhook)
    return accepted
  }
}

/** It looks unusual, and is rightly signed. */
export const dressedAs = ({ name, dress }: Dress): WebhookFault => ({
  name,
  play(webhook, send) {
    const { body, signedBeforeMs = 0, attempt = webhook.attempt, contentType } = dress(JSON.parse(webhook.body))
    const dressed = { ...webhook, body, attempt, sentAt: machineNow() - signedBeforeMs }
    const headers = { ...webhookHeaders(webhook.secret, dressed), ...(contentType && { 'content-type': contentType }) }
    return send({ ...dressed, headers }, { change: name, genuine: true })
  },
})

/** It is signed so long before or after now. */
export const signedAt = (name: string, offsetMs: number): WebhookFault => ({
  name,
  play(webhook, send) {
    const again = { ...webhook, sentAt: machineNow() + offsetMs }
    return send({ ...again, headers: webhookHeaders(again.secret, again) }, { change: name, genuine: true })
  },
})

/** The body is another, and rightly signed. */
export const bodyChanged = (name: string, change: (body: string) => string): WebhookFault => ({
  name,
  play: (webhook, send) => send(signedNow({ ...webhook, body: change(webhook.body) }), { change: name, genuine: true }),
})

/** Signs what it has become, now. */
export function signedNow(webhook: OutgoingWebhook): OutgoingWebhook {
  const again = { ...webhook, sentAt: machineNow() }
  return { ...again, headers: webhookHeaders(again.secret, again) }
}
