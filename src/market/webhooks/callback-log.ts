/** Logs what an agent has answered, by whichever way it came. */
import type { Refusal } from '../../api/failures.ts'
import type { CallbackEntry } from '../log.ts'
import type { Market } from '../market.ts'
import { aboutAgent, diagnosedCallback, told } from '../stories.ts'
import type { SignedCallback } from '../verb.ts'

/** `since`: when the marketplace began with it, in real ms. */
export function logCallback(
  { log, world }: Pick<Market, 'log' | 'world'>,
  { since, ...answer }: Omit<CallbackEntry, 'type' | 'ms'> & { since: number },
): void {
  // Never below 0, even if the machine's clock is set back.
  log({ type: 'callback', ...answer, ms: Math.max(0, world.realNow() - since) })
}

type Telling = Pick<Market, 'config' | 'world' | 'recording' | 'faults'>

/** What the log of a simulator says of a refused callback beside the entry; nothing in a deployment. */
export function diagnosisOf(market: Telling, { taskId, action, since }: Told, error: Refusal, from: From) {
  if (!market.recording) return {}
  const { config, world, recording } = market
  const agentId = from.sender?.agentId ?? recording.agentOf(taskId)
  const fault = market.faults?.metBy(from.rawHeaders) ?? null
  const span = { from: since, to: world.realNow(), at: world.now() }
  const found = diagnosedCallback(market, { ...span, action, taskId, fault }, error)
  const diagnosis = told(found, aboutAgent(config, { slug: agentId ?? '', webhookUrl: null }))
  return diagnosis && { diagnosis }
}

/** `sender`: of a signed one. */
type From = Pick<SignedCallback, 'rawHeaders'> & Partial<Pick<SignedCallback, 'sender'>>

interface Told {
  readonly taskId: string
  readonly action: string
  readonly since: number
}
