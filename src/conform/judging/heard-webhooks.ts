/** Webhooks that the agent has heard. One that found the agent busy does not count: it comes again. */

import { type Answer, History, type Recorded, type Recordeds } from '../history/history.ts'
import { type Finding, inconclusive } from './check.ts'

type Webhook = Recordeds<'webhook'>

/** Says that it can take no more at this moment, and is to be asked again. */
export const isBusy = (answer: Pick<Answer, 'status'> | null) => answer?.status === 429 || answer?.status === 503

/** Sent again when nothing came back: one missing answer may be the fault of anybody between. */
const isLost = ({ answer, error }: Pick<Webhook, 'answer' | 'error'>): boolean =>
  answer === null && /^(?:reset|refused|timeout|own_fault)/.test(error ?? '')

/** The agent has asked for time. */
const isPutOff = (event: Recorded): boolean => event.kind === 'webhook' && isBusy(event.answer)

/** What was sent about a task, or of it this event: answered, or without an answer. */
export const heardOf = (history: History, taskId: string, event?: string): Webhook[] =>
  history.webhooksOf(taskId).filter(one => !isPutOff(one) && (event === undefined || one.event === event))

/** The last that was sent about the task has met a busy agent. */
export const isAskedAgain = (history: History, taskId: string): boolean =>
  history.webhooksOf(taskId).slice(-1).some(isPutOff)

export const wasBusy = (history: History, taskId: string): boolean => history.webhooksOf(taskId).some(isPutOff)

/** A history without what met a busy agent, or got no answer, and was answered when it came again: no check has to know of it. */
export function withoutRepeats({ events }: History): History {
  const heard = new Set<string>()
  const left = events.toReversed().filter(event => {
    if (event.kind !== 'webhook') return true
    const { label, taskId, event: name, change, genuine, method } = event
    const what = [label, taskId, name, change, genuine, method].join(' ')
    // A marketplace repeats what is genuine.
    const isRepeated = isPutOff(event) || (genuine && isLost(event))
    if (!isRepeated) heard.add(what)
    return !isRepeated || !heard.has(what)
  })
  return new History(left.reverse())
}

/** What a finding comes to when the agent stayed busy: what it does counts, what it left undone does not. `history`: without repeats. */
export function unlessBusy(finding: Finding, history: History, label: string): Finding {
  if (finding.holds === true) return finding
  if (finding.holds === null) return history.webhooks(label).some(isPutOff) ? STAYED_BUSY : finding
  const shown = history.events.filter(({ seq }) => finding.evidence.includes(seq))
  return shown.some(isPutOff) && shown.every(({ kind }) => kind !== 'callback') ? STAYED_BUSY : finding
}

export const STAYED_BUSY = inconclusive('the agent stayed busy: it answered 429 or 503 each time')
