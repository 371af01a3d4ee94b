/**
 * Writes the outcome of each attempt, and tries again until the database takes it. Otherwise a webhook would be sent a
 * second time only because a row could not be written. Source.
 */
import { dispatch } from '../../api/dispatch.ts'
import { keptResponseBytes } from '../../api/limits.ts'
import { endDelivery, insertAttempt, retryAt } from '../../store/tables/webhooks/outbox.ts'
import type { ResponseHeaders } from '../../world/world.ts'
import { Changes } from '../changes.ts'
import type { Attempted } from '../faults.ts'
import type { Market } from '../market.ts'
import { aboutAgent, diagnosedAttempt, told } from '../stories.ts'
import { isoOrNull } from '../time.ts'
import type { ClaimedDelivery } from '../webhook-outlet.ts'
import { describeStatus } from './attempt.ts'
import { GroupCommit } from './group-commit.ts'
import { judge } from './retry-policy.ts'

export class Outcomes {
  readonly #market: Market
  readonly #groups: GroupCommit
  readonly #wakers = new Set<() => void>()
  #closed = false
  #refused = 0

  constructor(market: Market) {
    this.#market = market
    this.#groups = new GroupCommit(market.db)
  }

  /** How many outcomes wait because the database has refused them. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Returns whether another delivery of the agent may be due now. Never rejects. Only after `close` may it resolve
   * unwritten.
   */
  write(delivery: ClaimedDelivery, result: Attempted): Promise<boolean> {
    return this.#note(delivery, result).catch(error => {
      this.#logError(delivery, error)
      this.#refused++
      return this.#writeAgain(delivery, result).finally(() => this.#refused--)
    })
  }

  /** Gives up outcomes that the database has refused. Their rows are still pending, so a later start sends them again. */
  close(): void {
    this.#closed = true
    for (const wake of this.#wakers) wake()
  }

  async #writeAgain(delivery: ClaimedDelivery, result: Attempted): Promise<boolean> {
    for (let tries = 0; !this.#closed; tries++) {
      await this.#pause(dispatch.noteAgainMs[Math.min(tries, dispatch.noteAgainMs.length - 1)]!)
      if (this.#closed) break
      try {
        // The text of the agent's response may be what can't be written.
        return await this.#note(delivery, tries === 0 ? result : withoutText(result))
      } catch (error) {
        this.#logError(delivery, error)
      }
    }
    return false
  }

  #logError({ id }: ClaimedDelivery, error: unknown): void {
    this.#market.log({ type: 'error', message: `Webhook ${id} could not be noted: ${(error as Error).message}` })
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        this.#wakers.delete(wake)
        timer.cancel()
        resolve()
      }
      const timer = this.#market.world.after(ms, wake)
      this.#wakers.add(wake)
    })
  }

  async #note(claimed: ClaimedDelivery, result: Attempted): Promise<boolean> {
    const { world, log } = this.#market
    const verdict = judge(this.#market, result, claimed.attempt)
    const now = world.now()
    const noted = await this.#groups.write(claimed.taskId, async tx => {
      const noted =
        verdict.outcome === 'retry'
          ? await retryAt(tx, claimed, verdict.nextAt)
          : await endDelivery(tx, claimed, verdict.outcome, now)
      // Not noted: the lease had ended and another sender claimed the delivery, which writes its own attempt.
      if (noted) await insertAttempt(tx, attemptRow(claimed, result, now))
      return noted
    })
    if (!noted) return false
    tellOf(this.#market, claimed, verdict.outcome)
    log({
      type: 'webhook',
      event: claimed.event,
      taskId: claimed.taskId,
      agentId: claimed.agentId,
      deliveryId: claimed.id,
      attempt: claimed.attempt,
      outcome: verdict.outcome,
      status: result.ok ? result.status : null,
      reason: result.ok ? null : result.reason,
      ms: Math.round(result.durationMs),
      nextAttemptAt: isoOrNull(verdict.nextAt),
      ...(this.#market.recording && detailsOf(this.#market, claimed, result)),
    })
    return noted.follows
  }
}

/** Tells the pages of the agent's builder. */
function tellOf({ memory, world }: Pick<Market, 'memory' | 'world'>, claimed: ClaimedDelivery, what: string): void {
  const { builderId, taskId, agentId, id: deliveryId } = claimed
  memory.of(Changes).tell([builderId], world.now(), { type: 'webhook', taskId, agentId, deliveryId, what })
}

/** What a builder wants to see of an attempt, and the log of a deployment should not hold. */
function detailsOf(market: Market, claimed: ClaimedDelivery, result: Attempted) {
  const { event, taskId, agentId, webhookUrl } = claimed
  const kept = { ...attemptRow(claimed, result, market.world.now()), event, taskId }
  const about = aboutAgent(market.config, { slug: agentId, webhookUrl })
  const diagnosis = told(diagnosedAttempt(market, kept), about)
  const found = diagnosis && { diagnosis }
  if (!result.ok) return { message: result.message, ...found }
  const { body } = result
  return { responseBody: body.slice(0, SHOWN_CHARACTERS), responseBytes: Buffer.byteLength(body), ...found }
}

const SHOWN_CHARACTERS = 200

const withoutText = (result: Attempted): Attempted =>
  result.ok ? { ...result, body: '' } : { ...result, message: 'What happened could not be written down' }

const attemptRow = ({ id, attempt, webhookUrl }: ClaimedDelivery, result: Attempted, now: number) => ({
  deliveryId: id,
  attempt,
  url: webhookUrl ?? '',
  status: result.ok ? result.status : null,
  reason: result.ok ? null : result.fault === undefined ? result.reason : 'armed_fault',
  message: result.ok ? `The agent ${describeStatus(result.status)}` : result.message,
  location: result.ok && result.status >= 300 && result.status < 400 ? locationIn(result.headers) : null,
  answer: result.ok ? truncated(result.body.replaceAll('\0', '')) : null,
  durationMs: Math.round(result.durationMs),
  createdAt: now,
})

/** The part of a response that the log keeps. It is cut by bytes, because each invalid byte became three as UTF-8. */
const truncated = (text: string) =>
  Buffer.byteLength(text) <= keptResponseBytes
    ? text
    : decoder().decode(Buffer.from(text).subarray(0, keptResponseBytes), { stream: true })
// A character that the cut splits is dropped rather than shown as a broken one.
const decoder = () => new TextDecoder('utf-8', { ignoreBOM: true })

const LONGEST_URL = 500
const locationIn = ({ location }: ResponseHeaders) =>
  [location].flat()[0]?.slice(0, LONGEST_URL).replaceAll('\0', '') ?? null
