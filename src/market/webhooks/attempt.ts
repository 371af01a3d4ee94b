/** One attempt at one webhook: signed afresh, sent, and noted with what follows from it. Source: I-webhook-request, A-37. */
import {
  answerBytes,
  durations,
  keptAnswerBytes,
  retryAfterMaxMs,
  retryJitter,
  retryScheduleMs,
} from '../../api/limits.ts'
import { signatureHeaders, standardHeaders } from '../../api/signature.ts'
import { endDelivery, insertAttempt, type QueuedAgent, retryAt } from '../../store/tables/outbox.ts'
import type { AnswerHeaders, OutgoingResult } from '../../world/world.ts'
import type { Market } from '../market.ts'
import { unseal } from '../sealing.ts'
import { isoOrNull } from '../time.ts'
import { inGroups } from './group-commit.ts'
import type { HeldDelivery } from './leases.ts'

/** A delivery in hand, with its agent's address and sealed secret. */
export interface ClaimedDelivery extends HeldDelivery, Pick<QueuedAgent, 'builderId' | 'webhookUrl' | 'secret'> {}

/** Sends one claimed delivery. Never rejects. */
export async function attemptDelivery(market: Market, claimed: ClaimedDelivery): Promise<OutgoingResult> {
  const { webhookUrl: url, secret } = claimed
  // Claims of a shared database count attempts, noted or not: none is sent without end.
  if (claimed.attempt > MOST_ATTEMPTS) return { ...nowhere, reason: 'own_fault', message: NEVER_NOTED }
  if (!url || !secret) return { ...nowhere, message: `The agent has no webhook ${url ? 'secret' : 'URL'}` }
  const opened = openedSecret(market, claimed.agentId, secret)
  if (opened instanceof Error) return { ...nowhere, message: opened.message }
  return post(market, claimed, url, opened).catch(error => ({
    ...nowhere,
    reason: 'own_fault',
    message: error.message,
  }))
}

const MOST_ATTEMPTS = retryScheduleMs.length + 1
const NEVER_NOTED = 'It was sent as often as the schedule allows, and what became of that could not be noted'

/** Under another key than the one it was sealed with, a secret is as good as none: whoever asks the log is told. */
function openedSecret({ config }: Market, agentId: string, sealed: string): string | Error {
  try {
    return unseal(config, agentId, sealed)
  } catch (error) {
    return error as Error
  }
}

const nowhere = { ok: false, reason: 'bad_url', durationMs: 0 } as const

async function post({ world }: Market, { id, body, attempt, builderId }: ClaimedDelivery, url: string, secret: string) {
  const sentAt = world.realNow()
  return world.egress.post({
    url,
    body,
    headers: {
      'content-type': 'application/json',
      ...signatureHeaders(secret, sentAt, body),
      ...standardHeaders(secret, id, sentAt, body),
      'X-Service-Delivery-Id': id,
      'X-Service-Attempt': String(attempt),
    },
    timeoutMs: durations.webhookTimeoutMs,
    maxAnswerBytes: answerBytes,
    account: builderId,
  })
}

/** `nextAt`: domain ms. */
type Verdict = { outcome: 'retry'; nextAt: number } | { outcome: 'delivered' | 'failed'; nextAt: null }

/** What follows from an answer: 2xx ends it well, 410 ends it, all else is tried again while the schedule lasts. */
function judge({ world }: Market, result: OutgoingResult, attempt: number): Verdict {
  if (result.ok && result.status >= 200 && result.status < 300) return { outcome: 'delivered', nextAt: null }
  const scheduled = retryScheduleMs[attempt - 1]
  if (scheduled === undefined || (result.ok && result.status === 410)) return { outcome: 'failed', nextAt: null }
  const asked = result.ok ? askedWaitMs(result.headers['retry-after'], world.realNow()) : null
  const wait = asked ?? Math.round(scheduled * (1 + retryJitter * (2 * world.chance() - 1)))
  return { outcome: 'retry', nextAt: world.now() + wait }
}

/** What an endpoint did, in words that follow its name. A redirect is told as one, or nobody would guess. Source: A-42. */
export const answerWords = (status: number) =>
  status >= 300 && status < 400 ? `answered ${status}, and redirects are not followed` : `answered ${status}`

/** Retry-After, as seconds or as a date; null if there is none that makes sense. */
export function askedWaitMs(header: AnswerHeaders[string], realNow: number): number | null {
  if (typeof header !== 'string') return null
  const wait = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - realNow
  return wait > 0 ? Math.min(wait, retryAfterMaxMs) : null
}

/** Writes what became of an attempt. Answers whether something of the agent may be due by that. */
export async function noteAttempt(market: Market, claimed: ClaimedDelivery, result: OutgoingResult): Promise<boolean> {
  const { db, world, log } = market
  const { id, attempt } = claimed
  const verdict = judge(market, result, attempt)
  const now = world.now()
  const noted = await inGroups(db, claimed.taskId, async tx => {
    const noted =
      verdict.outcome === 'retry'
        ? await retryAt(tx, claimed, verdict.nextAt)
        : await endDelivery(tx, claimed, verdict.outcome, now)
    // Its time was over and another took it up: the attempt is theirs to tell of.
    if (noted) await insertAttempt(tx, attemptRow(claimed, result, now))
    return noted
  })
  if (!noted) return false
  log({
    type: 'webhook',
    event: claimed.event,
    taskId: claimed.taskId,
    agentId: claimed.agentId,
    deliveryId: id,
    attempt,
    outcome: verdict.outcome,
    status: result.ok ? result.status : null,
    reason: result.ok ? null : result.reason,
    ms: Math.round(result.durationMs),
    nextAttemptAt: isoOrNull(verdict.nextAt),
  })
  return noted.follows
}

/** The beginning of an answer that the log keeps: by its bytes, as what is no UTF-8 takes three for each of its own. */
const headOf = (text: string) =>
  Buffer.byteLength(text) <= keptAnswerBytes
    ? text
    : decoder().decode(Buffer.from(text).subarray(0, keptAnswerBytes), { stream: true })
// A character that is cut off is dropped, and not shown as a broken one.
const decoder = () => new TextDecoder('utf-8', { ignoreBOM: true })

const attemptRow = ({ id, attempt, webhookUrl }: ClaimedDelivery, result: OutgoingResult, now: number) => ({
  deliveryId: id,
  attempt,
  url: webhookUrl ?? '',
  status: result.ok ? result.status : null,
  reason: result.ok ? null : result.reason,
  message: result.ok ? `The agent ${answerWords(result.status)}` : result.message,
  answer: result.ok ? headOf(result.body.replaceAll('\0', '')) : null,
  durationMs: Math.round(result.durationMs),
  createdAt: now,
})
