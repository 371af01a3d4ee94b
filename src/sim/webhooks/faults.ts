/** What may happen to a webhook on its way to an agent, whoever sends it: a simulator, `emit` or the judge. */
import { setTimeout } from 'node:timers/promises'
import type { WebhookFaultName } from '../../api/faults.ts'
import type { OutgoingResult } from '../../world/world.ts'

/** How what is sent differs from what the marketplace sends. */
export interface Sent {
  readonly change: string | null
  /** A right agent accepts it. */
  readonly genuine: boolean
}

/** Sends it to the agent. */
export type Send<Webhook> = (webhook: Webhook, sent?: Sent) => Promise<OutgoingResult>

/** Signs it anew, now, as the attempt of that number. */
export type Renew<Webhook> = (webhook: Webhook, attempt: number) => Webhook

/** One that any webhook can meet. */
export interface AnyWebhookFault {
  readonly name: string
  /** Returns what the marketplace learns of the attempt. */
  play<Webhook>(webhook: Webhook, send: Send<Webhook>): Promise<OutgoingResult>
}

/** What the marketplace hears of an attempt whose answer was lost: it will try again. */
const lost: OutgoingResult = { ok: false, reason: 'reset', message: 'The connection was reset.', durationMs: 0 }
/** It will not. */
export const accepted: OutgoingResult = { ok: true, status: 200, headers: {}, body: '', durationMs: 0 }

export const isLost = (result: OutgoingResult): boolean => result === lost

const copyOf: Sent = { change: 'copy', genuine: true }

const pause = (ms: number) => setTimeout(ms, undefined, { ref: false })

/** The same bytes once more, `ms` after the first were answered. */
export const copiedAfter = (ms: number): AnyWebhookFault => ({
  name: 'copy',
  async play(webhook, send) {
    const result = await send(webhook)
    await pause(ms)
    await send(webhook, copyOf)
    return result
  },
})

/** The same bytes twice, at once. */
export const copiedAtOnce: AnyWebhookFault = {
  name: 'copy at once',
  async play(webhook, send) {
    const [result] = await Promise.all([send(webhook), send(webhook, copyOf)])
    return result!
  },
}

/** The agent gets it, and the marketplace not the answer: it sends it again with the same id and a new signature. */
export const answerLost: AnyWebhookFault = {
  name: 'answer lost',
  async play(webhook, send) {
    await send(webhook)
    return lost
  },
}

/** It gets lost on the way. The marketplace sends it again. */
export const webhookLost: AnyWebhookFault = { name: 'webhook lost', play: async () => lost }

/** It goes out only when `until` resolves. */
export const held = <Webhook>(until: () => Promise<unknown>, renew: Renew<Webhook>) => ({
  name: 'held',
  async play(webhook: Webhook, send: Send<Webhook>) {
    await until()
    return send(renew(webhook, 1))
  },
})

/** Others overtake it: the marketplace takes it for delivered and goes on, and the agent gets it when `until` resolves. */
export const overtakenUntil = <Webhook>(until: () => Promise<unknown>, renew: Renew<Webhook>) => ({
  name: 'overtaken',
  async play(webhook: Webhook, send: Send<Webhook>) {
    until().then(() => sendUntilHeard(webhook, send, renew))
    return accepted
  },
})

const MOST_ATTEMPTS = 6
const BUSY_MS = 1_000

const isBusy = (result: OutgoingResult) => result.ok && (result.status === 429 || result.status === 503)

/** Again as long as the agent is busy, as the marketplace would, which has nothing more to do with it. */
async function sendUntilHeard<Webhook>(webhook: Webhook, send: Send<Webhook>, renew: Renew<Webhook>): Promise<void> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    if (!isBusy(await send(renew(webhook, attempt)))) return
    await pause(BUSY_MS)
  }
}

const COPY_MS = 50
const LATE_MS = 3_000

export interface FaultWay<Webhook> {
  readonly renew: Renew<Webhook>
  /** Resolves when the next webhook has gone to the agent. */
  overtaken(): Promise<unknown>
}

/** By the names that people give. */
export const webhookFaultOf = <Webhook>(name: WebhookFaultName, { renew, overtaken }: FaultWay<Webhook>) =>
  ({
    copy: copiedAfter(COPY_MS),
    'copy-at-once': copiedAtOnce,
    'answer-lost': answerLost,
    'webhook-lost': webhookLost,
    late: held(() => pause(LATE_MS), renew),
    overtaken: overtakenUntil(overtaken, renew),
  })[name]
