/** Webhooks that a scenario sends itself, as the marketplace sends none: in pieces, on connections of choice, many at once. */

import type { HeaderLines } from '../../world/header-lines.ts'
import { type Answer, isBusy } from '../history.ts'
import type { ByHand } from '../lane/by-hand.ts'
import { type OutgoingWebhook, signedNow } from '../lane/webhook-faults.ts'
import type { Stage } from './scenario.ts'

const MOST_ATTEMPTS = 6
const LONGEST_PAUSE_S = 10

interface How extends ByHand {
  /** In words. */
  readonly change: string
  /** Makes a forged one of it. */
  readonly forge?: (genuine: OutgoingWebhook) => Pick<OutgoingWebhook, 'body' | 'headers'>
  readonly headersOf?: (webhook: OutgoingWebhook) => HeaderLines
}

/** Sends one, signed now, and again if the agent is busy, as the marketplace does. Returns whether it was accepted. */
export async function byHand(stage: Stage, label: string, webhook: OutgoingWebhook, how: How): Promise<boolean> {
  const { change, forge, headersOf = ({ headers }) => Object.entries(headers), ...rest } = how
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const genuine = signedNow({ ...webhook, attempt })
    const made = { ...genuine, ...forge?.(genuine) }
    const sent = { change, genuine: forge === undefined }
    const answer = await stage.lane.webhooks.sendByHand(made, sent, label, { headers: headersOf(made), ...rest })
    if (!isBusy(answer)) return answer !== null && answer.status >= 200 && answer.status < 300
    await stage.pause(1_000 * Math.min(LONGEST_PAUSE_S, retryAfter(answer)))
  }
  return false
}

/** In seconds. */
function retryAfter(answer: Answer | null): number {
  const [, value] = answer?.headers.find(([name]) => name.toLowerCase() === 'retry-after') ?? []
  return Number(value) || 1
}
