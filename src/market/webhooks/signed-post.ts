/** Signs one webhook afresh and posts it once. A simulator records the exchange. Source: I-webhook-request, A-37. */
import type { FaultName } from '../../api/faults.ts'
import { durations, mostResponseBytes } from '../../api/limits.ts'
import { webhookHeaders } from '../../api/webhook-request.ts'
import type { Outgoing, OutgoingResult } from '../../world/world.ts'
import type { Attempted } from '../faults.ts'
import type { Market } from '../market.ts'
import { Tracing } from '../tracing.ts'
import { SentWebhook } from './sent-webhook.ts'

export interface SignedPost {
  readonly url: string
  readonly secret: string
  readonly body: string
  readonly deliveryId: string
  readonly attempt: number
  readonly agentId: string
  readonly builderId: string
  /** The task, or the connection test. */
  readonly taskId: string
}

type Way = Pick<Market, 'world' | 'recording' | 'faults' | 'memory'>

/** Never rejects because of the agent or the network. */
export function postSigned(market: Way, post: SignedPost): Promise<Attempted> {
  const request = requestOf(market, post)
  const send = (signed: Outgoing, fault: FaultName | null = null) => sendRecorded(market, post, signed, fault)
  if (!market.faults) return send(request)
  return market.faults.webhook(post, request, { send, renew: (_, attempt) => requestOf(market, { ...post, attempt }) })
}

function requestOf(
  { world, memory }: Way,
  { url, body, secret, deliveryId, attempt, builderId }: SignedPost,
): Outgoing {
  const traceparent = memory.of(Tracing).tracer?.current()
  const headers = webhookHeaders(secret, { deliveryId, attempt, sentAt: world.realNow(), body })
  return {
    url,
    body,
    headers: traceparent === undefined ? headers : { ...headers, traceparent },
    timeoutMs: durations.webhookTimeoutMs,
    maxResponseBytes: mostResponseBytes,
    account: builderId,
  }
}

async function sendRecorded(
  { world, recording }: Way,
  post: SignedPost,
  request: Outgoing,
  fault: FaultName | null,
): Promise<OutgoingResult> {
  if (!recording) return world.egress.post(request)
  const [realAt, at] = [world.realNow(), world.now()]
  const result = await world.egress.post({ ...request, keepsWire: true })
  recording.add(id => new SentWebhook({ id, realAt, at, post, request, result, fault }))
  return result
}
