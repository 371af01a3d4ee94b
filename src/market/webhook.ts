/** One attempt at one webhook: signed afresh, sent, and noted with what follows from it. Source: section 4, D37. */
import { answerBytes, durations, retryAfterMaxMs, retryJitter, retryScheduleMs } from '../api/limits.ts'
import { signatureHeaders, standardHeaders } from '../api/signature.ts'
import {
  type DeliveryRow,
  endDelivery,
  insertAttempt,
  promoteNext,
  type QueuedAgent,
  retryAt,
} from '../store/outbox.ts'
import type { OutgoingResult } from '../world/world.ts'
import type { Market } from './market.ts'
import { inGroups } from './note-groups.ts'
import { unseal } from './secrets.ts'
import { iso } from './time.ts'

/** A delivery in hand, with its agent's address and sealed secret. */
export interface ClaimedDelivery extends DeliveryRow, Pick<QueuedAgent, 'webhookUrl' | 'secret'> {
  /** Real ms. */
  leasedUntil: number
}

/** Sends one claimed delivery. */
export async function attemptDelivery(market: Market, claimed: ClaimedDelivery): Promise<OutgoingResult> {
  const { webhookUrl: url, secret } = claimed
  if (!url || !secret) return { ...nowhere, message: `The agent has no webhook ${url ? 'secret' : 'URL'}` }
  const opened = openedSecret(market, claimed.agentId, secret)
  return opened instanceof Error ? { ...nowhere, message: opened.message } : post(market, claimed, url, opened)
}

/** Under another key than the one it was sealed with, a secret is as good as none: whoever asks the log is told. */
function openedSecret({ config }: Market, agentId: string, sealed: string): string | Error {
  try {
    return unseal(config, agentId, sealed)
  } catch (error) {
    return error as Error
  }
}

const nowhere = { ok: false, reason: 'bad_url', durationMs: 0 } as const

function post({ world }: Market, { id, body, attempts }: ClaimedDelivery, url: string, secret: string) {
  const sentAt = world.realNow()
  return world.egress.post({
    url,
    body,
    headers: {
      'content-type': 'application/json',
      ...signatureHeaders(secret, sentAt, body),
      ...standardHeaders(secret, id, sentAt, body),
      'X-Service-Delivery-Id': id,
      'X-Service-Attempt': String(attempts),
    },
    timeoutMs: durations.webhookTimeoutMs,
    maxAnswerBytes: answerBytes,
  })
}

interface Verdict {
  outcome: 'delivered' | 'retry' | 'failed'
  /** Domain ms; null when nothing follows. */
  nextAt: number | null
}

/** What follows from an answer: 2xx ends it well, 410 ends it, all else is tried again while the schedule lasts. */
function judge({ world }: Market, result: OutgoingResult, attempts: number): Verdict {
  if (result.ok && result.status >= 200 && result.status < 300) return { outcome: 'delivered', nextAt: null }
  const scheduled = retryScheduleMs[attempts - 1]
  if (scheduled === undefined || (result.ok && result.status === 410)) return { outcome: 'failed', nextAt: null }
  const asked = result.ok ? askedWaitMs(result.headers['retry-after'], world.realNow()) : null
  const wait = asked ?? Math.round(scheduled * (1 + retryJitter * (2 * world.chance() - 1)))
  return { outcome: 'retry', nextAt: world.now() + wait }
}

/** What an endpoint did, in words that follow its name. A redirect is told as one, or nobody would guess. Source: D42. */
export const answerWords = (status: number) =>
  status >= 300 && status < 400 ? `answered ${status}, and redirects are not followed` : `answered ${status}`

/** Retry-After, as seconds or as a date; null if there is none that makes sense. */
export function askedWaitMs(header: string | undefined, realNow: number): number | null {
  if (header === undefined) return null
  const wait = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - realNow
  return wait > 0 ? Math.min(wait, retryAfterMaxMs) : null
}

/** Writes what became of an attempt. Answers whether what has waited behind it may go now. */
export async function noteAttempt(market: Market, claimed: ClaimedDelivery, result: OutgoingResult): Promise<boolean> {
  const { db, world, log } = market
  const { id, attempts } = claimed
  const { outcome, nextAt } = judge(market, result, attempts)
  const now = world.now()
  const { mine, follows } = await inGroups(db, claimed.taskId, async tx => {
    const changed =
      nextAt === null || outcome !== 'retry'
        ? await endDelivery(tx, { id, attempts, state: outcome === 'delivered' ? 'delivered' : 'failed', endedAt: now })
        : await retryAt(tx, { id, attempts, nextAt })
    // The lease was over and another took it up: the attempt is theirs to tell of.
    if (changed === 0) return { mine: false, follows: false }
    const [follows] = await Promise.all([
      outcome !== 'retry' && promoteNext(tx, claimed.taskId, claimed.agentId, now),
      insertAttempt(tx, attemptRow(claimed, result, now)),
    ])
    return { mine: true, follows }
  })
  if (!mine) return false
  log({
    type: 'webhook',
    event: claimed.event,
    taskId: claimed.taskId,
    agentId: claimed.agentId,
    deliveryId: id,
    attempt: attempts,
    outcome,
    status: result.ok ? result.status : null,
    reason: result.ok ? null : result.reason,
    ms: Math.round(result.durationMs),
    nextAttemptAt: nextAt === null ? null : iso(nextAt),
  })
  return follows
}

const attemptRow = ({ id, attempts, webhookUrl }: ClaimedDelivery, result: OutgoingResult, now: number) => ({
  deliveryId: id,
  attempt: attempts,
  url: webhookUrl ?? '',
  status: result.ok ? result.status : null,
  reason: result.ok ? null : result.reason,
  message: result.ok ? `The agent ${answerWords(result.status)}` : result.message,
  answer: result.ok ? result.body.replaceAll('\0', '') : null,
  durationMs: Math.round(result.durationMs),
  createdAt: now,
})
