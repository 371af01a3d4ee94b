/** Judges what an agent did with a webhook of `emit`: its response, and its callbacks. */
import type { EventName } from '../../api/events.ts'
import type { SentTask } from '../../sim/callbacks/check.ts'
import type { Emission } from '../../sim/webhooks/emission.ts'
import type { OutgoingResult } from '../../world/world.ts'
import type { Variant } from './plan.ts'

/** What came of one webhook. */
export interface Outcome {
  variant: Variant
  emission: Emission
  result: OutgoingResult
  /** The response to the second request of a replay. */
  again: OutgoingResult | null
  /** null: its callbacks go elsewhere. */
  task: SentTask | null
}

/** `weak` fails only with --strict, `note` never. */
export type Level = 'right' | 'note' | 'weak' | 'wrong'

export interface WebhookFinding {
  level: Level
  text: string
  fix?: string
}

export const isWell = (result: OutgoingResult) => result.ok && result.status >= 200 && result.status < 300

/** Whether an agent that does its work may still call back. */
export function isAwaited(event: EventName, { state, callbacks }: SentTask): boolean {
  if (event === 'task.submitted') return state === 'pending' || state === 'in_progress'
  if (event === 'task.revision_requested') return state === 'in_progress'
  return event === 'task.message' && callbacks.length === 0
}

export function findingsOf(event: EventName, outcome: Outcome, waitMs: number): WebhookFinding[] {
  const { variant, result, task } = outcome
  const response = responseFinding(outcome)
  const callbacks = task?.callbacks.map(callbackFinding) ?? []
  if (variant.forgery?.right === 'answers 401') {
    const worked = task?.callbacks.map(
      ({ action }): WebhookFinding => ({ level: 'wrong', text: `${action}: it worked on it` }),
    )
    return [...response, ...(worked ?? [])]
  }
  const missing = task && isWell(result) ? missingFinding(event, task, waitMs) : []
  // After a lost or refused callback the agent has to go on by itself.
  if (variant.fault?.direction === 'callback') for (const finding of missing) finding.level = 'weak'
  return [...response, ...callbacks, ...missing]
}

function responseFinding({ variant: { forgery, dress }, result, again }: Outcome): WebhookFinding[] {
  if (forgery?.right === 'works once') return replayFinding(result, again)
  const words = result.ok ? `answered ${result.status}` : result.message
  if (forgery) return [{ level: refusalLevel(result), text: isWell(result) ? `${words}: it accepts a forgery` : words }]
  if (dress) return [{ level: isWell(result) ? 'right' : 'wrong', text: words }]
  return []
}

/** Any refusal keeps a stranger out, but only a 401 says why. A response of 5xx, or none in time, means that it broke. */
function refusalLevel(result: OutgoingResult): Level {
  if (!result.ok) return result.reason === 'reset' ? 'weak' : 'wrong'
  if (result.status === 401) return 'right'
  return result.status >= 400 && result.status < 500 ? 'weak' : 'wrong'
}

function replayFinding(first: OutgoingResult, again: OutgoingResult | null): WebhookFinding[] {
  if (!isWell(first))
    return [{ level: 'wrong', text: 'did not accept the genuine webhook, so that a replay shows nothing' }]
  if (again?.ok && again.status < 500) return [{ level: 'right', text: `answered ${again.status} to the replay` }]
  return [
    { level: 'wrong', text: again?.ok ? `answered ${again.status} to the replay` : `the replay: ${again?.message}` },
  ]
}

function callbackFinding({ action, status, fault, fix, advice }: SentTask['callbacks'][number]): WebhookFinding {
  if (fault !== null) return { level: 'wrong', text: `${action}: ${status}: ${fault}`, ...(fix !== null && { fix }) }
  return advice === null ? { level: 'right', text: action } : { level: 'weak', text: `${action}: ${advice}` }
}

function missingFinding(event: EventName, { state, callbacks }: SentTask, waitMs: number): WebhookFinding[] {
  const within = `within ${waitMs / 1000} s`
  if (callbacks.some(({ fault }) => fault !== null)) return []
  if (event === 'task.submitted' && state === 'pending')
    return [{ level: 'weak', text: `no accept and no reject ${within}` }]
  const isOpen = state === 'in_progress' && (event === 'task.submitted' || event === 'task.revision_requested')
  return isOpen ? [{ level: 'note', text: `no delivery ${within}; --wait 60s waits longer` }] : []
}
