/** Webhooks that a scenario sends itself, as the marketplace sends none: in pieces, on connections of choice, many at once. */

import type { HeaderLines } from '../../world/header-lines.ts'
import type { Answer } from '../history/history.ts'
import type { ByHand } from '../marketplaces/odd-requests.ts'
import { type OutgoingWebhook, signedNow } from '../marketplaces/webhook-faults.ts'
import type { Stage } from './scenario.ts'

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
  const send = (attempt: number) => {
    const genuine = signedNow({ ...webhook, attempt })
    const made = { ...genuine, ...forge?.(genuine) }
    const sent = { change, genuine: forge === undefined }
    return stage.lane.webhooks.sendByHand(made, sent, label, { headers: headersOf(made), ...rest })
  }
  const answer = await untilHeard(stage, send, forge === undefined)
  return answer !== null && answer.status >= 200 && answer.status < 300
}

/** Sends again while the agent is busy, and what is genuine once more if nothing comes back. Returns the last answer; null: none came. */
export async function untilHeard(
  { agent, pause }: Stage,
  send: (attempt: number) => Promise<Answer | null>,
  isGenuine = false,
): Promise<Answer | null> {
  const before = agent.ends
  const mayRepeat = () => isGenuine && agent.ends === before
  const told = await agent.busy.ask(async attempt => ({ answer: await send(attempt) }), pause, mayRepeat)
  return told.answer
}
