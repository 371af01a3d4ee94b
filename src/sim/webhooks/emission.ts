/** Makes webhooks to send by hand: plain ones, forged ones and dressed ones, with the encoder of the outbox. */
import type { EventName, EventPayload } from '../../api/events.ts'
import { webhookBody, webhookHeaders } from '../../api/webhook-request.ts'
import type { World } from '../../world/world.ts'
import type { Forgery } from './forgeries.ts'
import { sampleEvent } from './sample-event.ts'
import type { Dress } from './unusual.ts'

export interface Wanted {
  event: EventName
  secret: string
  /** Returns the callbackUrl of a task. */
  callbackUrl: (taskId: string) => string
  /** Changes the payload before it is encoded and signed. */
  change: (payload: EventPayload) => EventPayload
  /** Headers that are added, or take the place of others. */
  headers: readonly (readonly [name: string, value: string])[]
  /** How it differs from what the marketplace would send, if it does. */
  forgery?: Forgery | undefined
  dress?: Dress | undefined
}

export interface Emission {
  taskId: string
  deliveryId: string
  body: string
  headers: Record<string, string>
}

/** Makes one webhook, signed now. */
export function emissionOf(world: World, wanted: Wanted): Emission {
  const { event, secret, callbackUrl, change, forgery, dress } = wanted
  const sentAt = world.realNow()
  const taskId = world.id('task')
  const deliveryId = world.id('dlv')
  const given = { taskId, callbackUrl: callbackUrl(taskId), timestamp: new Date(sentAt).toISOString() }
  const payload = change(sampleEvent(event, given))
  const dressed = dress?.dress(payload) ?? { body: webhookBody(payload) }
  const { body, signedBeforeMs = 0, attempt = 1, contentType } = dressed
  const genuine = { deliveryId, attempt, sentAt: sentAt - signedBeforeMs, body }
  const made = forgery?.forge({ secret, ...genuine }) ?? { body, headers: webhookHeaders(secret, genuine) }
  if (contentType !== undefined) made.headers['content-type'] = contentType
  return { taskId, deliveryId, body: made.body, headers: withOthers(made.headers, wanted.headers) }
}

/** Names of headers are compared without case. */
function withOthers(headers: Record<string, string>, others: Wanted['headers']): Record<string, string> {
  const all = Object.entries(headers)
  for (const [name, value] of others) {
    const at = all.findIndex(([known]) => known.toLowerCase() === name.toLowerCase())
    all.splice(at < 0 ? all.length : at, 1, [name, value])
  }
  return Object.fromEntries(all)
}

/** The same webhook, signed now, as a later attempt. */
export function signedAnew(
  world: World,
  { secret, headers: others }: Pick<Wanted, 'secret' | 'headers'>,
  { attempt, ...emission }: Emission & { attempt: number },
): Emission {
  const { deliveryId, body } = emission
  const headers = webhookHeaders(secret, { deliveryId, attempt, sentAt: world.realNow(), body })
  return { ...emission, headers: withOthers(headers, others) }
}

/** The same webhook under another delivery id, as somebody sends it who has copied it: the signature does not cover the id. */
export function replayOf(world: World, { headers, ...emission }: Emission): Emission {
  const deliveryId = world.id('dlv')
  return { ...emission, deliveryId, headers: { ...headers, 'X-Service-Delivery-Id': deliveryId } }
}
