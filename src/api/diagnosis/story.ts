/**
 * Finds what is wrong in the webhooks and callbacks of one task or connection test, in their order: causes that no request shows alone.
 * Pure. Source: A-288.
 */
import type { FailureName } from '../failures.ts'
import { type FaultName, faults } from '../faults.ts'
import type { Finding } from './record.ts'
import { answerFinding } from './responses.ts'
import { type Cause, causes } from './table.ts'

interface Span {
  /** In ms of one clock, the same for all facts of a story. */
  readonly from: number
  readonly to: number
  /** In ms of domain time. */
  readonly at: number
  /** What somebody had armed, and it met. */
  readonly fault: FaultName | null
  readonly exchangeId: string | null
  readonly taskId: string | null
}

export interface WebhookFact extends Span {
  readonly kind: 'webhook'
  readonly event: string
  readonly url: string | null
  readonly status: number | null
  readonly reason: string | null
  readonly message: string
  readonly location: string | null
  readonly body: string
  readonly deliveryId: string | null
  readonly attempt: number | null
  /** What the agent's verification gets wrong, if it was tried out. */
  readonly mistake: Finding | null
  /** Nothing listens at the agent's address at this time, and what is known of that. */
  readonly away?: Finding | null
}

export interface CallbackFact extends Span {
  readonly kind: 'callback'
  readonly action: string
  readonly status: number
  /** The name of the refusal; null: it was taken, or nobody kept that. */
  readonly refusal: FailureName | null
  /** The words of the refusal, and what is wrong with each field. */
  readonly message: string
  /** What is wrong with its signature. */
  readonly signature: Finding | null
}

/** The process of the agent has ended by itself. */
export interface DeathFact {
  readonly kind: 'death'
  readonly from: number
  readonly at: number
  /** Follows "ended": "with exit code 1". */
  readonly how: string
  readonly lastWords: readonly string[]
  /** When it was started anew, on the clock of `from`. */
  readonly until?: number
}

export type Fact = WebhookFact | CallbackFact | DeathFact

/** In the place of the agent's answer to a callback: what the agent was told, or not, by an armed fault. */
interface MetFault {
  readonly name: FaultName
  readonly on: string | null
}

export interface Story {
  /** In the order in which they began. */
  readonly facts: readonly Fact[]
  /** The agent has to answer, and has not. */
  readonly owes: boolean
  /** By the clock of the facts. */
  readonly now: number
  /** How long nothing may follow a 200. */
  readonly patienceMs: number
  /** Faults that were armed and met by what is in no fact, as it never arrived. */
  readonly met?: readonly MetFault[]
}

export function findingIn(story: Story): Finding | null {
  const { facts } = story
  const webhooks = facts.filter(fact => fact.kind === 'webhook')
  const callbacks = facts.filter(fact => fact.kind === 'callback')
  const [webhook, callback] = [webhooks.at(-1), callbacks.at(-1)]
  const early = workBeforeAnswer(webhooks, callbacks)
  if (callback && isRefused(callback) && (!webhook || callback.to >= webhook.from))
    return callbackFinding(callback, facts, early)
  if (!webhook) return null
  if (isFaulted(webhook) || !isTaken(webhook)) return unansweredFinding(webhook, facts, early)
  if (early) return early
  return unfollowed(story, webhook, callbacks) ?? slowAnswer(webhook)
}

const isTaken = ({ status }: WebhookFact) => status !== null && status >= 200 && status < 300
const isRefused = ({ status }: CallbackFact) => status >= 400

/** Whatever proves it: of one exchange, of a delivery. */
const about = ({
  exchangeId,
  taskId,
  status,
  ...fact
}: WebhookFact | CallbackFact): NonNullable<Finding['evidence']> => ({
  exchangeId,
  taskId,
  status,
  ...('deliveryId' in fact && { deliveryId: fact.deliveryId, attempt: fact.attempt }),
})

/** A callback that was served so long before the answer came shows that the work is done first. Less may be the network's doing. */
const EARLY_MS = 500
/** Longer than this an agent is to let nobody wait. */
const SLOW_MS = 5_000

function workBeforeAnswer(webhooks: readonly WebhookFact[], callbacks: readonly CallbackFact[]): Finding | null {
  for (const webhook of webhooks.toReversed()) {
    if (webhook.fault !== null || (webhook.status !== null && !isTaken(webhook))) continue
    const callback = callbacks.find(
      ({ from, to, fault }) => fault === null && from > webhook.from && webhook.to - to >= EARLY_MS,
    )
    if (!callback) continue
    const answer =
      webhook.status === null ? 'no answer had come' : `its answer came ${inS(webhook.to - callback.from)} later`
    const text = `The agent works before it answers: its ${callback.action} came ${inS(callback.from - webhook.from)} after the webhook, and ${answer}.`
    // An answer that came may have waited in a machine that stood still; one that never came has not.
    const certainty = webhook.status === null ? 'sure' : 'likely'
    return { cause: 'work_before_answer', certainty, text, since: callback.at, evidence: about(webhook) }
  }
  return null
}

/** Two at once began before each other ended. */
const inS = (ms: number) => `${(Math.max(0, ms) / 1_000).toFixed(1)} s`

/** A process that ends is heard of a moment after its connections are cut. */
const HEARD_MS = 1_000

function unansweredFinding(webhook: WebhookFact, facts: readonly Fact[], early: Finding | null): Finding {
  const evidence = about(webhook)
  const since = webhook.at
  if (isFaulted(webhook)) return { ...ofFault(webhook.fault!, webhook.event), since, evidence }
  const death =
    webhook.status === null && webhook.reason !== 'timeout' ? deathIn(facts, webhook.from, webhook.to) : null
  if (death) {
    const text = `The agent ended ${death.how} before it had answered ${webhook.event}.${lastWords(death)}`
    return {
      cause: 'died_before_answer',
      certainty: 'sure',
      text,
      since,
      evidence,
      ...wayBack('died_before_answer', webhook),
    }
  }
  if (early && webhook.status === null) return early
  if (webhook.mistake && isRefusal(webhook.status)) return { ...webhook.mistake, since, evidence }
  const found = answerFinding(webhook)
  const known =
    found.cause === 'nobody_listens'
      ? { ...found, ...wayBack('nobody_listens', webhook), text: found.text + endInWords(facts, webhook.to) }
      : found
  return { ...known, since, evidence: { ...evidence, ...found.evidence } }
}

/** Who has started the agent knows how it comes back. */
const wayBack = (cause: 'nobody_listens' | 'died_before_answer' | 'died_at_work', { away }: WebhookFact) =>
  away?.fix === undefined ? {} : { fix: cause === 'nobody_listens' ? away.fix : `${causes[cause].fix} ${away.fix}` }

/** The statuses by which agents say that they do not believe a webhook. */
export const isRefusal = (status: number | null) => status === 400 || status === 401 || status === 403

/** The marketplace was told of a failure that the agent has no part in. */
const isFaulted = ({ fault }: WebhookFact) => fault === 'answer-lost' || fault === 'webhook-lost'

const ofFault = (fault: FaultName, on: string): Finding => ({
  cause: 'armed_fault',
  certainty: 'sure',
  text: `The fault ${fault}, which was armed, met ${on}: ${faults[fault].does}.`,
})

const deathIn = (facts: readonly Fact[], from: number, to: number): DeathFact | undefined =>
  facts.filter(fact => fact.kind === 'death').find(death => death.from >= from && death.from <= to + HEARD_MS)

/** Why nobody listens; empty: nobody knows of a process that had ended and was not started anew. */
export function endInWords(facts: readonly Fact[], at: number): string {
  const deaths = facts.filter(fact => fact.kind === 'death')
  const end = deaths.findLast(({ from, until = Number.POSITIVE_INFINITY }) => from <= at && at < until)
  return end ? ` The agent ended ${end.how}.${lastWords(end)}` : ''
}

const lastWords = ({ lastWords }: DeathFact) =>
  lastWords.length === 0 ? '' : ` Its last words: ${lastWords.join(' ')}`.replace(/[^.!?…]$/, '$&.')

/** The agent does not learn that its callback counts: a right one sends it again. */
const UNTOLD = new Set<FaultName>(['response-lost', 'bad-gateway', 'late-response'])
const OUT_OF_TURN = new Set<FailureName>(['task_out_of_turn', 'task_in_dispute', 'lost_race'])

function callbackFinding(callback: CallbackFact, facts: readonly Fact[], early: Finding | null): Finding {
  const evidence = about(callback)
  const { action, fault, refusal, message, signature, at: since } = callback
  if (fault !== null) return { ...ofFault(fault, action), since, evidence }
  const stopped = stoppedBy(callback, facts)
  if (signature) return { ...signature, since, stopped, evidence }
  if (refusal !== null && OUT_OF_TURN.has(refusal)) {
    const before = facts.filter(fact => fact !== callback && fact.from <= callback.from)
    const found = outOfTurn(callback, before, early)
    return { ...found, since, evidence, ...(found.cause === 'not_accepted' && { stopped }) }
  }
  const [cause, certainty] = (refusal !== null && byRefusal[refusal]) || (['refused_callback', 'sure'] as const)
  return {
    cause,
    certainty,
    text: `Its ${action} was refused with ${callback.status}. ${message}.`,
    since,
    stopped,
    evidence,
  }
}

/** The webhook of the work that was to be accepted or delivered. */
function stoppedBy({ from, action, taskId }: CallbackFact, facts: readonly Fact[]): string | null {
  if (action === 'message' || taskId?.startsWith('test_')) return null
  const asked = facts.findLast(
    (fact): fact is WebhookFact => fact.kind === 'webhook' && fact.from <= from && asksForWork(fact.event),
  )
  return asked && isTaken(asked) ? asked.deliveryId : null
}

function outOfTurn(callback: CallbackFact, before: readonly Fact[], early: Finding | null): Finding {
  const { action, message } = callback
  const text = `Its ${action} was refused with ${callback.status}. ${message}.`
  const taken = before.findLast(fact => fact.kind === 'callback' && fact.action === action && !isRefused(fact))
  const asked = before.findLast(fact => fact.kind === 'webhook' && asksForWork(fact.event))
  const ended = before.findLast(fact => fact.kind === 'webhook' && ENDS.has(fact.event)) as WebhookFact | undefined
  if (taken?.kind === 'callback') {
    if (taken.fault !== null && UNTOLD.has(taken.fault)) return ofFault(taken.fault, action)
    if (early) return early
    const isAskedAnew =
      asked && action === 'deliver' && asked.kind === 'webhook' && asked.event === REVISION && asked.from > taken.to
    if (!isAskedAnew && !(ended && ended.from > taken.to))
      return {
        cause: 'doubled_callback',
        certainty: 'sure',
        text: `${text} The same was taken ${inS(callback.from - taken.to)} before.`,
      }
  }
  if (ended) return { cause: 'too_late', certainty: 'sure', text: `${text} It was sent ${ended.event} before.` }
  const hasAccepted = before.some(fact => fact.kind === 'callback' && fact.action === 'accept' && !isRefused(fact))
  if (
    action === 'deliver' &&
    !hasAccepted &&
    before.some(fact => fact.kind === 'webhook' && fact.event === 'task.submitted')
  )
    return { cause: 'not_accepted', certainty: 'likely', text }
  return { cause: 'out_of_turn', certainty: 'sure', text }
}

const REVISION = 'task.revision_requested'
const WORK = new Set(['task.submitted', REVISION])
/** Whether an agent that takes this has to answer by a callback. */
export const asksForWork = (event: string) => WORK.has(event)
const ENDS = new Set(['task.cancelled', 'task.approved', 'task.disputed'])

const byRefusal: Partial<Record<FailureName, readonly [Cause, Finding['certainty']]>> = {
  validation_failed: ['bad_callback', 'sure'],
  malformed_json: ['bad_callback', 'sure'],
  wrong_content_type: ['bad_callback', 'sure'],
  body_too_large: ['bad_callback', 'sure'],
  no_such_path: ['wrong_callback_path', 'sure'],
  wrong_method: ['wrong_callback_path', 'sure'],
  not_found: ['wrong_callback_path', 'likely'],
  not_yours: ['not_allowed', 'sure'],
  wrong_party: ['not_allowed', 'sure'],
  not_authenticated: ['not_allowed', 'sure'],
  key_needed: ['not_allowed', 'sure'],
  test_over: ['test_over', 'sure'],
  internal: ['own_fault', 'sure'],
}

/** The agent has the webhook, and nothing has come of it. */
function unfollowed(story: Story, webhook: WebhookFact, callbacks: readonly CallbackFact[]): Finding | null {
  const { facts, owes, now, patienceMs, met = [] } = story
  if (!owes || callbacks.some(({ from, action }) => from > webhook.from && action !== 'message' && action !== 'accept'))
    return null
  const [evidence, since] = [about(webhook), webhook.at]
  const lost = met.find(({ name }) => faults[name].direction === 'callback')
  if (lost) return { ...ofFault(lost.name, lost.on ?? 'a callback'), since, evidence }
  const death = deathIn(facts, webhook.from, now)
  if (death) {
    const text = `The agent took ${webhook.event} with ${webhook.status}, and ended ${death.how} before it had done its work.${lastWords(death)}`
    return {
      cause: 'died_at_work',
      certainty: 'sure',
      text,
      since: death.at,
      evidence,
      ...wayBack('died_at_work', webhook),
    }
  }
  const last = Math.max(webhook.to, ...callbacks.map(({ to }) => to))
  if (now - last < patienceMs) return null
  const text = `The agent took ${webhook.event} with ${webhook.status}, and nothing has followed for ${inS(now - last)}.`
  return { cause: 'silent', certainty: 'likely', text, since, evidence }
}

function slowAnswer(webhook: WebhookFact): Finding | null {
  const ms = webhook.to - webhook.from
  if (ms <= SLOW_MS || webhook.fault !== null) return null
  const text = `The agent took ${inS(ms)} to answer ${webhook.event} with ${webhook.status}.`
  return { cause: 'slow_answer', certainty: 'likely', text, since: webhook.at, evidence: about(webhook) }
}
