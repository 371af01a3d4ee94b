/** Passes webhooks from a marketplace to the agent: records each of them, and applies the faults that were prepared. */

import type { HeaderLines } from '../../world/header-lines.ts'
import type { Egress, Outgoing, OutgoingResult, ResponseHeaders } from '../../world/world.ts'
import type { BusyAgent } from '../agent/busy-agent.ts'
import type { ComingUp } from '../agent/coming-up.ts'
import { type Answer, contentOf, type WebhookEvent } from '../history/history.ts'
import { pause, timedExchange } from '../history/machine-time.ts'
import { type ByHand, sendByHand } from './odd-requests.ts'
import {
  accepted,
  type OutgoingWebhook,
  type SendWebhook,
  type Sent,
  signedNow,
  type WebhookFault,
} from './webhook-faults.ts'

interface Prepared {
  readonly label: string
  readonly taskId: string
  readonly event: string
  readonly fault: WebhookFault
}

export interface TapOptions {
  /** The way out. It is closed by whoever has opened it. */
  readonly egress: Egress
  /** The agent's own address. */
  readonly url: () => string
  /** The one that the marketplace knows, as it takes https alone. What it sends to others reaches nobody. */
  readonly listedUrl: string
  readonly secret: () => string
  readonly busy: BusyAgent
  readonly comingUp: ComingUp
  /** How often it has ended by itself: what it may have ended of is not sent again. */
  readonly ends: () => number
  readonly labelOf: (taskId: string) => string | undefined
  /** Returns the number of the event. */
  readonly record: (event: WebhookEvent) => number
}

const PATIENCE_MS = 30_000
const REPEAT_MS = 1_000
/** An end is laid to what was sent in the second before it. */
const KEPT_REPEATS = 100
const genuine: Sent = { change: null, genuine: true }
/** Whoever sends it writes them anew. */
const isOfConnection = /^(?:host|connection|content-length|transfer-encoding)$/i

export class WebhookTap implements Egress {
  readonly #options: TapOptions
  readonly #prepared = new Set<Prepared>()
  /** By the number of the event. A history does not have all of it: it cuts what is long, masks secrets, and tells nothing of connections. */
  readonly #repeats = new Map<number, () => Promise<unknown>>()

  constructor(options: TapOptions) {
    this.#options = options
  }

  /** The next webhook of this event of the task meets the fault, and no other does. */
  prepare(prepared: Prepared): void {
    this.#prepared.add(prepared)
  }

  /** What has met nothing. */
  get unused(): readonly Prepared[] {
    return [...this.#prepared]
  }

  async post(request: Outgoing): Promise<OutgoingResult> {
    if (request.url !== this.#options.listedUrl) return accepted
    const webhook = webhookOf(request, { url: this.#options.url(), secret: this.#options.secret() })
    const { event, taskId } = namesIn(webhook.body)
    const prepared = [...this.#prepared].find(one => one.taskId === taskId && one.event === event)
    if (prepared) {
      this.#prepared.delete(prepared)
      return prepared.fault.play(webhook, this.#sendUntilHeard)
    }
    // What the marketplace sends it repeats by itself, but for tests.
    const renewed = () => signedNow(webhook)
    if (taskId?.startsWith('test_')) return this.#sendUntilHeard(webhook, { ...genuine, renewed })
    return (await this.#exchange(webhook, genuine, this.#labelOf(webhook))).result
  }

  /** The marketplace would send it again in its own way, without the fault. */
  readonly #sendUntilHeard: SendWebhook = (webhook, sent = genuine) => this.send(webhook, sent, this.#labelOf(webhook))

  #labelOf({ body }: OutgoingWebhook): string {
    const { taskId } = namesIn(body)
    return (taskId && this.#options.labelOf(taskId)) || ''
  }

  /** Sends one that the scenario has made itself, and again if the agent is busy. */
  async send(webhook: OutgoingWebhook, sent: Sent, label: string): Promise<OutgoingResult> {
    const { renewed = () => webhook } = sent
    const again = (attempt: number) => this.#exchange(attempt === 1 ? webhook : renewed(attempt), sent, label)
    const { busy, ends } = this.#options
    const before = ends()
    return (await busy.ask(again, pause, () => sent.genuine && ends() === before)).result
  }

  async #exchange(webhook: OutgoingWebhook, sent: Sent, label: string) {
    const { url, body, headers } = webhook
    const asked = { url, body, headers, timeoutMs: PATIENCE_MS, maxResponseBytes: 65_536, keepsWire: true }
    const { result, ...told } = await this.#options.comingUp.answered(async () => {
      const times = timedExchange()
      const result = await this.#options.egress.post(asked)
      const error = result.ok ? null : `${result.reason}: ${result.message}`
      return { result, answer: answerOf(result), error, ...times() }
    })
    const sentHeaders = result.wire?.sentHeaders ?? Object.entries(headers)
    this.#record(webhook, sent, label, { ...told, method: 'POST', headers: sentHeaders })
    return { result, answer: told.answer }
  }

  /** Sends one once, in a way in which the marketplace sends none. `headers`: in place of its own. Returns the answer; null: none came. */
  async sendByHand(
    webhook: OutgoingWebhook,
    sent: Sent,
    label: string,
    { headers = Object.entries(webhook.headers), ...how }: ByHand & { readonly headers?: HeaderLines } = {},
  ): Promise<Answer | null> {
    const { url, body } = webhook
    const { sentHeaders, ...told } = await this.#options.comingUp.answered(async () => {
      const times = timedExchange()
      const sent = await sendByHand({ url, headers, body: Buffer.from(body) }, how)
      return { ...sent, ...times() }
    })
    const { method = 'POST' } = how
    this.#record(webhook, sent, label, { ...told, method, headers: sentHeaders }, how)
    return told.answer
  }

  /** Sends one of the last once more, the very same bytes in the same way, and records nothing. */
  async repeat(seq: number): Promise<void> {
    await this.#repeats.get(seq)?.()
  }

  #record(
    { url, body, deliveryId, attempt }: OutgoingWebhook,
    { change, genuine }: Sent,
    label: string,
    told: Pick<WebhookEvent, 'method' | 'headers' | 'answer' | 'error' | 'ms' | 'realAt'>,
    how: ByHand = {},
  ): void {
    const { event, taskId } = namesIn(body)
    this.#options.busy.heard(told.answer)
    const bytes = Buffer.from(body)
    const seq = this.#options.record({
      ...{ kind: 'webhook', label, taskId, event, deliveryId, attempt, change, genuine, url },
      ...{ body: contentOf(bytes), ...told },
    })
    const headers = told.headers.filter(([name]) => !isOfConnection.test(name))
    const again: ByHand = { ...how, connection: null, timeoutMs: REPEAT_MS }
    this.#repeats.set(seq, () => sendByHand({ url, headers, body: bytes }, again))
    if (this.#repeats.size > KEPT_REPEATS) this.#repeats.delete(this.#repeats.keys().next().value!)
  }

  async close(): Promise<void> {}
}

function webhookOf({ headers, body }: Outgoing, known: { url: string; secret: string }): OutgoingWebhook {
  return {
    ...known,
    body,
    headers,
    deliveryId: headers['X-Service-Delivery-Id'] ?? '',
    attempt: Number(headers['X-Service-Attempt'] ?? 1),
    sentAt: Number(headers['X-Service-Timestamp'] ?? 0),
  }
}

function namesIn(body: string): { event: string | null; taskId: string | null } {
  try {
    const { event, data } = JSON.parse(body)
    return { event: typeof event === 'string' ? event : null, taskId: data?.taskId ?? null }
  } catch {
    return { event: null, taskId: null }
  }
}

function answerOf(result: OutgoingResult): Answer | null {
  if (!result.ok) return null
  const { wire, status, headers, body } = result
  return { status, headers: wire?.headers ?? linesOf(headers), body: contentOf(wire?.body ?? Buffer.from(body)) }
}

const linesOf = (headers: ResponseHeaders): HeaderLines =>
  Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))
