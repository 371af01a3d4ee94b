/**
 * What an agent attempted with its callbacks. The marketplace itself refuses most of what is wrong, so that outcomes alone would hide it:
 * a second delivery is judged although it was refused.
 */

import { bytesOf, type History, type Recordeds } from '../history/history.ts'
import { behind } from '../judging/check.ts'
import { isBusy } from '../judging/heard-webhooks.ts'
import { contentIn, isAck } from './evidence.ts'

type Callback = Recordeds<'callback'>

export const arrivedAt = ({ realAt, ms }: Recordeds<'callback' | 'webhook'>): number => realAt - ms

/** A webhook that was refused for good: who is busy says so, and hears it later. */
export const isRefused = (webhook: Recordeds<'webhook'>): boolean => !isAck(webhook) && !isBusy(webhook.answer)

export const wasTaken = ({ answer }: Callback): boolean =>
  answer !== null && answer.status >= 200 && answer.status < 300

/** The callbacks with these actions, each very same request once: the marketplace does once what comes twice like that. */
export function attemptsOf(history: History, taskId: string, ...actions: readonly string[]): Callback[] {
  const seen = new Set<string>()
  return history.callbacksOf(taskId).filter(callback => {
    if (!actions.includes(callback.action)) return false
    const signature = callback.headers.find(([name]) => name.toLowerCase() === 'x-service-signature')?.[1]
    // One that comes with a key says nothing that tells a repetition from a second attempt.
    const mark = signature ?? `${callback.seq}`
    if (seen.has(mark)) return false
    seen.add(mark)
    return true
  })
}

export const isDelivered = (history: History, taskId: string, count = 1): boolean =>
  history.stepsOf(taskId).filter(({ trigger }) => trigger === 'deliver').length >= count

type Deliveries = readonly { readonly taken: Callback; readonly others: readonly Callback[] }[]

/** What was delivered each time that it was asked for, and what else was attempted then. */
function deliveriesOf(history: History, taskId: string): Deliveries {
  const asked = history.stepsOf(taskId).filter(({ trigger }) => trigger === 'request_revision')
  const roundOf = (callback: Callback) => asked.filter(({ realAt }) => realAt <= arrivedAt(callback)).length
  const delivers = attemptsOf(history, taskId, 'deliver')
  return [0, ...asked].flatMap((_, round) => {
    const those = delivers.filter(callback => roundOf(callback) === round)
    const taken = those.find(wasTaken)
    if (!taken) return []
    return [{ taken, others: those.filter(one => one !== taken && arrivedAt(one) >= arrivedAt(taken)) }]
  })
}

const repeatedIn = ({ taken, others }: Deliveries[number]) =>
  others.filter(one => arrivedAt(one) >= taken.realAt && contentIn(one) === contentIn(taken))

/**
 * A delivery that nobody has asked for: another content, or the same once more by an agent that delivered its first task of all no more
 * than once. Some send everything twice to be sure, and that is no second work.
 */
export function unaskedDelivery(history: History, taskId: string): Callback | undefined {
  const [first] = history.tasks('first-task')
  const habit = first ? Math.max(0, ...deliveriesOf(history, first.taskId).map(one => repeatedIn(one).length)) : 0
  for (const round of deliveriesOf(history, taskId)) {
    const other = round.others.find(one => contentIn(one) !== contentIn(round.taken)) ?? repeatedIn(round)[habit]
    if (other) return other
  }
  return undefined
}

/** Whether callbacks are refused that belong to a task without any fault: an agent's habit then. */
export const isRefusedAnyway = (history: History): boolean => history.callbacks('first-task').some(wasOutOfTurn)

export const wasOutOfTurn = ({ answer, fault }: Callback): boolean =>
  fault === null && answer !== null && [400, 409].includes(answer.status)

/** The fields that the marketplace has found fault with. */
export function refusedFieldsOf({ answer }: Callback): string[] {
  if (answer?.status !== 400) return []
  try {
    return Object.keys(JSON.parse(bytesOf(answer.body).toString()).errors ?? {})
  } catch {
    return []
  }
}

/** The other of two decisions about one task. */
export function secondDecision(history: History, taskId: string): Callback | undefined {
  const [first, ...others] = attemptsOf(history, taskId, 'accept', 'reject')
  return others.find(({ action }) => action !== first!.action)
}

/** Callbacks that want to go on with a task, which arrived after this moment. */
export const workAfter = (history: History, taskId: string, realAt: number): Callback[] =>
  attemptsOf(history, taskId, 'accept', 'deliver').filter(callback => arrivedAt(callback) > realAt)

/** It has tried, in a form that is refused: what is wrong with it is told by the checks of callbacks. */
export const isMalformed = (history: History, taskId: string): boolean =>
  history.callbacksOf(taskId).some(callback => !isSigned(callback) || !isJson(callback))

export const MALFORMED = 'its callbacks were refused for their form'

const isSigned = ({ signature }: Callback) => signature === 'valid' || signature === 'key'
const isJson = ({ headers }: Callback) =>
  headers.some(([name, value]) => /^content-type$/i.test(name) && /json|multipart/i.test(value))

export const NO_REVISIONS = behind('life.revision', 'after life.revision failed')

/** It has left a revision undone where nothing else was tried. */
export function ignoresRevisions(history: History): boolean {
  const [task] = history.tasks('life.revision')
  if (!task) return false
  const wasAsked = history.stepsOf(task.taskId).some(({ trigger }) => trigger === 'request_revision')
  return wasAsked && !isDelivered(history, task.taskId, 2)
}
