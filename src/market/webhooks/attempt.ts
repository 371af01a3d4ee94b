/** One attempt at a claimed delivery. Source: A-37. */
import type { Attempted } from '../faults.ts'
import type { Market } from '../market.ts'
import { unseal } from '../sealing.ts'
import { Tracing } from '../tracing.ts'
import type { ClaimedDelivery } from '../webhook-outlet.ts'
import { mostAttempts } from './retry-policy.ts'
import { postSigned } from './signed-post.ts'

/** Sends one claimed delivery. Never rejects. */
export async function attemptDelivery(market: Market, claimed: ClaimedDelivery): Promise<Attempted> {
  const { webhookUrl: url, secret } = claimed
  // On a shared database a claim counts as an attempt even if its outcome was never written. So no webhook is sent for ever.
  if (claimed.attempt > mostAttempts(market)) return { ...notSent, reason: 'own_fault', message: NEVER_NOTED }
  if (!url || !secret) return { ...notSent, message: `The agent has no webhook ${url ? 'secret' : 'URL'}` }
  const opened = openSecret(market, claimed.agentId, secret)
  if (opened instanceof Error) return { ...notSent, message: opened.message }
  const { id: deliveryId, body, attempt, agentId, builderId, taskId } = claimed
  const post = { url, secret: opened, body, deliveryId, attempt, agentId, builderId, taskId }
  const sending = { type: 'sending', event: claimed.event, taskId, agentId, deliveryId, attempt } as const
  // Behind what the same commit logs.
  if (market.recording) queueMicrotask(() => market.log(sending))
  const tracing = market.memory.of(Tracing)
  const attributes = {
    'marketplace.task_id': taskId,
    'marketplace.agent_id': agentId,
    'marketplace.delivery_id': deliveryId,
  }
  const span = {
    name: `webhook ${claimed.event}`,
    kind: 'client',
    attributes: { ...attributes, 'http.request.method': 'POST', 'marketplace.attempt': attempt },
    parent: tracing.causeOf(deliveryId) ?? null,
  } as const
  return tracing
    .span(span, () => postSigned(market, post), ending)
    .catch(error => ({ ...notSent, reason: 'own_fault', message: error.message }))
}

const ending = (result: Attempted) =>
  result.ok ? { 'http.response.status_code': result.status } : { 'error.type': result.reason }

const NEVER_NOTED = 'It was sent as often as the schedule allows, and what became of that could not be noted'

/** A secret that was sealed under another key can't be used. The error becomes the attempt's message in the delivery log. */
function openSecret({ config }: Market, agentId: string, sealed: string): string | Error {
  try {
    return unseal(config, agentId, sealed)
  } catch (error) {
    return error as Error
  }
}

const notSent = { ok: false, reason: 'bad_url', durationMs: 0 } as const

/**
 * Describes a response status for a sentence that names the endpoint. It says that redirects are not followed. Source:
 *
 */
export const describeStatus = (status: number) =>
  status >= 300 && status < 400 ? `answered ${status}, and redirects are not followed` : `answered ${status}`
