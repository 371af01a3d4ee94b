/** The agents' webhooks: what each answers stands in its URL, and all that came is kept. */
import { SIGNATURE_HEADER, signatureHeaders, standardHeaders, TIMESTAMP_HEADER } from '../../src/api/signature.ts'
import { answered } from '../../src/world/virtual.ts'
import type { Outgoing, OutgoingResult } from '../../src/world/world.ts'
import type { Webhook } from '../support/agent-sink.ts'
import type { WireAnswer, WireHeader } from '../support/wire.ts'
import type { Names } from './names.ts'

/** What an agent got, or what its test callback was answered; still with the ids of its side. */
export interface Heard {
  agentId: string
  /** Empty for a test: its id is new. What one agent hears of one task comes in order. */
  taskId: string
  what: 'webhook' | 'callback'
  status: number
  text: string
}

/** The first word of a URL's path says how the agent there behaves. */
export const behaviours = {
  ok: () => answered(200, 'ok'),
  mute: () => answered(200),
  forger: () => answered(200),
  twice: () => answered(200, '{"received":true}'),
  odd: () => answered(204),
  nul: () => answered(200, 'before\0after – ‘ünïcode’ 🚀'),
  broken: () => answered(500, '<h1>Internal Server Error</h1>'),
  moved: () => answered(302, '', { location: 'https://elsewhere.example/' }),
  gone: () => answered(410),
  busy: () => answered(429, '', { 'retry-after': '120' }),
  // Passes its tests, and takes a webhook at the second or the fourth attempt.
  flaky: (attempt: number, isTest: boolean) => answered(isTest || attempt % 2 === 0 ? 200 : 503, 'later'),
  moody: (_, isTest: boolean) => answered(isTest ? 200 : 500),
  away: () => ({ ok: false, reason: 'refused', message: 'Nothing listens there.', durationMs: 0 }) as const,
} satisfies Record<string, (attempt: number, isTest: boolean) => OutgoingResult>

export type Behaviour = keyof typeof behaviours

interface Surroundings {
  names: Names
  heard: Heard[]
  secrets: ReadonlyMap<string, string>
  exchange(method: string, target: string, headers: readonly WireHeader[], body: string): Promise<WireAnswer>
  now(): number
}

export function sinkOf({ names, heard, secrets, exchange, now }: Surroundings) {
  const callBack = async (webhook: Webhook, secret: string, invalid: boolean) => {
    const text = JSON.stringify({ action: 'accept' })
    const headers = Object.entries(signatureHeaders(invalid ? `${secret}!` : secret, now(), text))
    const target = new URL(webhook.data.callbackUrl).pathname
    const { status, body } = await exchange('POST', target, [['content-type', 'application/json'], ...headers], text)
    heard.push({ agentId: String(webhook.data.agentId), taskId: '', what: 'callback', status, text: body })
  }

  return async ({ url, body, headers }: Outgoing): Promise<OutgoingResult> => {
    const webhook = JSON.parse(body) as Webhook
    const agentId = String(webhook.data.agentId)
    const { test } = webhook.data
    const behaviour = new URL(url).pathname.split('/')[1] as Behaviour
    const secret = secrets.get(names.named(agentId)) ?? ''
    const attempt = Number(headers['X-Service-Attempt'])
    const result = (behaviours[behaviour] ?? behaviours.ok)(attempt, test === true)
    const said = { url, body, headers: saidIn(headers, secret, body) }
    const taskId = test ? '' : webhook.data.taskId
    heard.push({ agentId, taskId, what: 'webhook', status: result.ok ? result.status : 0, text: JSON.stringify(said) })
    if (test && behaviour !== 'mute') {
      await callBack(webhook, secret, behaviour === 'forger')
      if (behaviour === 'twice') await callBack(webhook, secret, true)
    }
    return result
  }
}

/** The headers, with a word in the place of what depends on the secret. */
function saidIn(headers: Readonly<Record<string, string>>, secret: string, body: string) {
  const at = Number(headers[TIMESTAMP_HEADER])
  const wanted: Record<string, string> = {
    ...signatureHeaders(secret, at, body),
    ...standardHeaders(secret, headers['webhook-id'] ?? '', at, body),
  }
  return Object.entries(headers).map(([name, value]) => {
    const isDigest = name === SIGNATURE_HEADER || name === 'webhook-signature'
    return [name, isDigest ? value === wanted[name] : value]
  })
}
