/** Signs one webhook afresh and posts it once. A simulator records the exchange. Source: I-webhook-request, A-37. */
import { answerBytes, durations } from '../../api/limits.ts'
import { webhookHeaders } from '../../api/webhook-request.ts'
import type { Outgoing, OutgoingResult } from '../../world/world.ts'
import { type Exchange, secretFingerprint } from '../exchange.ts'
import type { Market } from '../market.ts'

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

/** Never rejects because of the agent or the network. */
export async function postSigned(market: Pick<Market, 'world' | 'recording'>, post: SignedPost) {
  const { world, recording } = market
  const { url, body, secret, deliveryId, attempt, builderId } = post
  const realAt = world.realNow()
  const request: Outgoing = {
    url,
    body,
    headers: webhookHeaders(secret, { deliveryId, attempt, sentAt: realAt, body }),
    timeoutMs: durations.webhookTimeoutMs,
    maxAnswerBytes: answerBytes,
    account: builderId,
  }
  if (!recording) return world.egress.post(request)
  const at = world.now()
  const result = await world.egress.post({ ...request, keepsWire: true })
  recording.add({ ...exchangeOf(post, request, result), realAt, at })
  return result
}

function exchangeOf(
  post: SignedPost,
  request: Outgoing,
  result: OutgoingResult,
): Omit<Exchange, 'id' | 'realAt' | 'at'> {
  const { taskId, agentId, deliveryId, attempt, secret } = post
  const { wire } = result
  return {
    direction: 'webhook',
    method: 'POST',
    url: request.url,
    requestHeaders: wire?.sentHeaders ?? Object.entries(request.headers),
    requestBody: Buffer.from(request.body),
    requestCut: false,
    status: wire ? wire.status : result.ok ? result.status : null,
    responseHeaders: wire?.headers ?? [],
    responseBody: wire?.body ?? Buffer.from(result.ok ? result.body : ''),
    responseCut: wire?.isCut ?? false,
    error: result.ok ? null : result.message,
    ms: result.durationMs,
    taskId,
    agentId,
    deliveryId,
    attempt,
    sentSecretFingerprint: secretFingerprint(secret),
  }
}
