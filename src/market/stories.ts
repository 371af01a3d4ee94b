/** Makes of what a simulator has recorded, or of what the delivery log keeps, the story of a task: what a diagnosis is found in. Source: A-288. */

import { type About, type DiagnosisRecord, type Finding, toRecord } from '../api/diagnosis/record.ts'
import { type Answered, answerFinding } from '../api/diagnosis/responses.ts'
import { type CallbackFact, type Fact, findingIn, type Story, type WebhookFact } from '../api/diagnosis/story.ts'
import type { Refusal } from '../api/failures.ts'
import { type Exchange, hasFailed } from './exchange.ts'
import type { Faults } from './faults.ts'
import type { Market } from './market.ts'
import type { AgentNotes, Recording } from './recording.ts'

/** Of a simulator. */
export class Stories {
  readonly #recording: Recording
  readonly #faults: Faults | null
  readonly #ofTask = new Map<string, Exchange[]>()
  readonly #ofAgent = new Map<string, Exchange[]>()
  readonly #facts = new Map<string, readonly Fact[]>()

  /** `taskId`: that of the only story that is wanted. */
  constructor(recording: Recording, faults: Faults | null, taskId?: string | null) {
    this.#recording = recording
    this.#faults = faults
    for (const exchange of recording.exchanges.all()) {
      if (taskId != null && exchange.taskId !== taskId) continue
      if (exchange.taskId !== null) push(this.#ofTask, exchange.taskId, exchange)
      if (exchange.agentId !== null) push(this.#ofAgent, exchange.agentId, exchange)
    }
  }

  /** Those that an agent has to do with, the newest first. */
  tasksOf(agentId: string): string[] {
    return [...new Set((this.#ofAgent.get(agentId) ?? []).flatMap(({ taskId }) => taskId ?? []))]
  }

  /** When the last exchange of the agent began, in ms of domain time. */
  lastOf = (agentId: string) => this.#ofAgent.get(agentId)?.[0]?.at ?? null

  /** Its last webhook was taken, and whatever came back too. */
  isWell(taskId: string): boolean {
    const [last] = this.#ofTask.get(taskId) ?? []
    return last !== undefined && last.direction === 'callback' && !hasFailed(last)
  }

  has = (taskId: string) => this.#ofTask.has(taskId)

  /** `until`: leaves out what began later, in real ms. */
  story(taskId: string, asked: Pick<Story, 'owes' | 'now' | 'patienceMs'>, until = Number.POSITIVE_INFINITY): Story {
    const met = (this.#faults?.all() ?? []).filter(fault => fault.taskId === taskId)
    return { ...asked, facts: this.#factsOf(taskId).filter(({ from }) => from <= until), met }
  }

  /** Made once: each exchange of a story is asked for what was wrong in it. */
  #factsOf(taskId: string): readonly Fact[] {
    const known = this.#facts.get(taskId)
    if (known) return known
    const exchanges = this.#ofTask.get(taskId) ?? []
    const agentId = exchanges.find(exchange => exchange.agentId !== null)?.agentId ?? null
    const notes = this.#recording.notesOn(agentId)
    const facts: Fact[] = exchanges
      .toReversed()
      .map(exchange => (exchange.direction === 'webhook' ? webhookFact(exchange, notes) : callbackFact(exchange)))
    const all = [...facts, ...notes.deaths].sort(byTime)
    this.#facts.set(taskId, all)
    return all
  }

  /** The exchange that an attempt was. */
  sent({ taskId, deliveryId, attempt }: Pick<KeptAttempt, 'taskId' | 'deliveryId' | 'attempt'>): Exchange | undefined {
    return this.#ofTask.get(taskId)?.find(one => one.deliveryId === deliveryId && one.attempt === attempt)
  }

  /** What is wrong in an exchange, by all that was known when it ended. */
  finding(exchange: Exchange): Finding | null {
    if (exchange.taskId === null) return null
    const quiet = { owes: false, now: exchange.realAt, patienceMs: 0 }
    const found = findingIn(this.story(exchange.taskId, quiet, exchange.realAt + exchange.ms))
    return found?.evidence?.exchangeId === exchange.id ? found : null
  }
}

/** A webhook is recorded when it ends, behind the callbacks that it led to. */
const byTime = (a: Fact, b: Fact) => a.from - b.from || Number(b.kind === 'webhook') - Number(a.kind === 'webhook')

function push(lists: Map<string, Exchange[]>, key: string, exchange: Exchange): void {
  const list = lists.get(key)
  if (list) list.push(exchange)
  else lists.set(key, [exchange])
}

const spanOf = ({ realAt, ms, at, fault, id, taskId }: Exchange) => ({
  from: realAt,
  to: realAt + ms,
  at,
  fault,
  exchangeId: id,
  taskId,
})

const headerIn = ({ responseHeaders }: Exchange, wanted: string) =>
  responseHeaders.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null

function webhookFact(exchange: Exchange, { mistake, away }: AgentNotes): WebhookFact {
  const { url, status, reason, error, requestBody, responseBody, deliveryId, attempt } = exchange
  return {
    kind: 'webhook',
    ...spanOf(exchange),
    event: String(jsonIn(requestBody).event ?? '?'),
    ...{ url, status: reason === null ? status : null, reason, message: error ?? '', mistake, away },
    location: headerIn(exchange, 'location'),
    body: status !== null && status >= 400 ? responseBody.toString() : '',
    ...{ deliveryId, attempt },
  }
}

function callbackFact(exchange: Exchange): CallbackFact {
  const { status, refusal, signature, responseBody } = exchange
  return {
    kind: 'callback',
    ...spanOf(exchange),
    action: actionOf(exchange),
    status: status ?? 0,
    refusal,
    message: refusal === null ? '' : refusalIn(jsonIn(responseBody)),
    signature,
  }
}

/** Of a webhook, as the marketplace writes it: the event comes first. */
export const eventOf = ({ direction, requestBody }: Exchange): string | null =>
  (direction === 'webhook' && /^\{"event":"([\w.]+)"/.exec(requestBody.toString('latin1', 0, 100))?.[1]) || null

/** What a callback asked for. */
export function actionOf({ url, requestBody }: Exchange): string {
  const [, byKey] = /\/(accept|reject|deliver)(?:\?|$)/.exec(url) ?? []
  const { action = byKey } = jsonIn(requestBody)
  return typeof action === 'string' ? action.slice(0, 40) : 'callback'
}

export function refusalIn({ error, errors }: Record<string, unknown>): string {
  const fields = Object.entries((errors ?? {}) as Record<string, string[]>).map(
    ([field, [words]]) => `${field} ${words}`,
  )
  return [String(error ?? ''), fields.join(', ')].filter(Boolean).join(': ').replace(/\.$/, '')
}

export function jsonIn(bytes: Buffer): Record<string, unknown> {
  try {
    return Object(JSON.parse(bytes.toString()))
  } catch {
    return {}
  }
}

/** One attempt as the delivery log keeps it. */
export interface KeptAttempt extends Answered {
  readonly answer?: string | null
  readonly event: string
  readonly taskId: string
  readonly deliveryId: string
  readonly attempt: number
  readonly durationMs: number
  /** When it had ended, in ms of domain time. */
  readonly createdAt: number
}

export const attemptFact = (kept: KeptAttempt): WebhookFact => ({
  kind: 'webhook',
  from: kept.createdAt - kept.durationMs,
  to: kept.createdAt,
  at: kept.createdAt,
  fault: null,
  exchangeId: null,
  taskId: kept.taskId,
  event: kept.event,
  url: kept.url ?? null,
  status: kept.status,
  reason: kept.reason,
  message: kept.message,
  location: kept.location ?? null,
  body: kept.answer ?? '',
  deliveryId: kept.deliveryId,
  attempt: kept.attempt,
  mistake: null,
})

/** What is wrong with one attempt; null: it was delivered. */
function attemptFinding(kept: KeptAttempt): Finding | null {
  const { status, createdAt: since, taskId, deliveryId, attempt } = kept
  if (status !== null && status >= 200 && status < 300) return null
  const found = answerFinding({ ...kept, body: kept.answer ?? '' })
  return { ...found, since, evidence: { ...found.evidence, taskId, deliveryId, attempt } }
}

type Recorded = Pick<Market, 'recording' | 'faults'>

/** The same with all that a simulator has recorded of it. `stories`: made already. */
export function diagnosedAttempt(
  { recording, faults }: Recorded,
  kept: KeptAttempt,
  stories?: Stories,
): Finding | null {
  if (!recording) return attemptFinding(kept)
  const all = stories ?? new Stories(recording, faults, kept.taskId)
  const exchange = all.sent(kept)
  const found = exchange && all.finding(exchange)
  if (found) return found
  return attemptFinding(kept)
}

/** What is wrong with a callback that is refused at this moment, and not recorded yet. */
export function diagnosedCallback(
  { recording, faults }: Recorded,
  refused: Pick<CallbackFact, 'action' | 'taskId' | 'fault' | 'at' | 'from' | 'to'>,
  error: Refusal,
): Finding | null {
  if (!recording || refused.taskId === null) return null
  const { status, code: refusal, finding: signature = null } = error
  const message = refusalIn({ error: error.message, errors: error.errors })
  const fact: CallbackFact = { kind: 'callback', exchangeId: null, ...refused, status, refusal, signature, message }
  const quiet = { owes: false, now: refused.to, patienceMs: 0 }
  const { facts } = new Stories(recording, faults, refused.taskId).story(refused.taskId, quiet)
  return findingIn({ ...quiet, facts: [...facts.filter(({ from }) => from <= fact.from), fact] })
}

/** What is wrong in an exchange that is recorded. */
export function exchangeDiagnosis(
  { recording, faults, config }: Recorded & Pick<Market, 'config'>,
  exchange: Exchange,
  stories?: Stories,
) {
  if (!recording) return null
  const found = (stories ?? new Stories(recording, faults, exchange.taskId)).finding(exchange)
  return told(found, aboutAgent(config, { slug: exchange.agentId ?? '', webhookUrl: exchange.url }))
}

/** What is told of an agent in the commands of a diagnosis. */
export const aboutAgent = (
  { mode, baseUrl }: Pick<Market['config'], 'mode' | 'baseUrl'>,
  agent: { slug: string; webhookUrl: string | null },
): About => ({
  isDev: mode === 'dev',
  baseUrl,
  agent: agent.slug,
  forwarded:
    mode === 'dev' && /^https:\/\/[^/]+\.localhost(?::|\/)/.test(agent.webhookUrl ?? '') ? agent.webhookUrl : null,
})

export const told = (finding: Finding | null, about: About): DiagnosisRecord | null =>
  finding && toRecord(finding, about)
