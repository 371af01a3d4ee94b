/** What several checks look for in a history. */

import {
  type Answer,
  bytesOf,
  type Content,
  firstTaskHas,
  type History,
  hasDecided,
  hasTaken,
  type Recordeds,
} from '../history/history.ts'
import { broken, type Finding, holds, inconclusive, untested } from '../judging/check.ts'
import { isBusy, STAYED_BUSY, unlessBusy } from '../judging/heard-webhooks.ts'

const isTaken = ({ status }: Answer) => status >= 200 && status < 300

export const isAck = ({ answer }: Recordeds<'webhook'>) => answer !== null && isTaken(answer)

/** What came back, as the end of “was answered …”. */
export const toldBack = ({ answer, error }: Recordeds<'webhook'>) =>
  answer ? `was answered ${answer.status}` : `got no answer (${error})`

/** The one task with this label. Throws if the scenario has not come so far. */
export function taskOf(history: History, label: string): Recordeds<'task'> {
  const [task] = history.tasks(label)
  if (!task) throw new Error(`nothing was sent for ${label}`)
  return task
}

/** All of them were accepted. Where something was changed, what the marketplace has sent in a repeat says nothing. */
export function accepted(webhooks: readonly Recordeds<'webhook'>[]): Finding {
  if (webhooks.length === 0) return inconclusive('no webhook was sent')
  const changed = webhooks.filter(({ change }) => change !== null)
  const meant = changed.length > 0 ? changed : webhooks
  // A connection may close by itself just then. What comes of it is the next attempt.
  const wasRepeated = (webhook: Recordeds<'webhook'>) =>
    webhook.answer === null &&
    webhook.deliveryId !== null &&
    meant.some(again => isNext(webhook, again) && isAck(again))
  const heard = meant.filter(webhook => !isBusy(webhook.answer) && !wasRepeated(webhook))
  const refused = heard.find(webhook => !isAck(webhook))
  if (refused) return broken(`did not accept it${changeOf(refused)}: it ${toldBack(refused)}`, refused)
  if (heard.length > 0) return holds
  return STAYED_BUSY
}

const isNext = (webhook: Recordeds<'webhook'>, again: Recordeds<'webhook'>) =>
  again.deliveryId === webhook.deliveryId && (again.attempt ?? 0) > (webhook.attempt ?? 0)

/** Their webhooks were accepted, and the agent has decided about each task, if it has about the first. */
export function decided(history: History, label: string): Finding {
  const answered = accepted(history.webhooks(label).filter(({ genuine }) => genuine))
  if (answered.holds !== true || !firstTaskHas(history, 'accept', 'reject')) return answered
  const open = history.tasks(label).find(({ taskId }) => !hasDecided(history, taskId))
  return open ? broken('took it, and never accepted nor rejected the task', ...history.webhooksOf(open.taskId)) : holds
}

/** And has come as far with each as with the first, which had the same words. */
export function worked(history: History, label: string): Finding {
  const taken = decided(history, label)
  if (taken.holds !== true) return taken
  const tasks = history.tasks(label)
  if (tasks.some(({ taskId }) => hasTaken(history, taskId, 'reject'))) return untested('the agent rejected the task')
  if (!firstTaskHas(history, 'deliver')) return holds
  const open = tasks.find(({ taskId, isSpared }) => !isSpared && !hasTaken(history, taskId, 'deliver'))
  return open ? broken('accepted the task, and never delivered', ...history.webhooksOf(open.taskId)) : holds
}

const LIST = /\/api\/tasks(?:\?|$)/

/** Whoever looks through the list of its tasks between two events needs no webhook to know of them. */
export const hasLooked = (history: History, after: number, before: number): boolean =>
  history
    .of('request')
    .some(
      ({ seq, method, path, status }) =>
        seq > after && seq < before && method === 'GET' && status === 200 && LIST.test(path),
    )

/** What the agent says first of a task of which it can know by the webhook alone. */
export function callbackUnlooked(history: History, taskId: string): Recordeds<'callback'> | undefined {
  const { seq = 0 } = history.of('task').find(task => task.taskId === taskId) ?? {}
  return history.callbacksOf(taskId).find(callback => !hasLooked(history, seq, callback.seq))
}

/** A webhook that must not be believed was refused, and nothing came of it. `twins`: genuine ones, sent before and after. */
export function refusedAndQuiet(history: History, label: string, twins = 'sig.valid'): Finding {
  const forged = history.webhooks(label).filter(({ genuine }) => !genuine)
  if (forged.length === 0) return inconclusive('no forged webhook was sent')
  const believed = forged.find(isAck)
  if (believed) return broken(`took it${changeOf(believed)}: it ${toldBack(believed)}`, believed)
  for (const { taskId } of history.tasks(label)) {
    const callback = callbackUnlooked(history, taskId)
    if (callback) return broken(`refused it, and still called back with ${callback.action}`, ...forged, callback)
  }
  const heard = forged.filter(webhook => !isUnheard(webhook))
  const unheard = forged.find(webhook => !heard.some(other => other.label === webhook.label))
  if (unheard) return notAsked(unheard)
  const between = heard.every(one => areTaken(history.webhooks(twins), one))
  if (between) return listened(history) ?? holds
  const isRefused = history.webhooks(twins).some(({ answer }) => answer !== null && !isBusy(answer) && !isTaken(answer))
  return unlessBusy(isRefused ? untested(UNPROVEN) : inconclusive(UNPROVEN), history, twins)
}

/** Nothing was heard from it: that it is away is told by others, and that it alone was not heard is no word of the agent. */
export const notAsked = (webhook: Recordeds<'webhook'>): Finding =>
  inconclusive(`the agent could not be asked: it ${toldBack(webhook)}`)

/** Who refuses that is busy or away, or so it says, and not who looks at the signature. */
export const isUnheard = ({ answer, error }: Recordeds<'webhook'>) =>
  answer ? isBusy(answer) : !/^(reset|bad_answer|timeout)/.test(error ?? '')

const UNPROVEN = 'the agent did not accept the genuine webhooks before and after it'

/** The last that was sent before this one and the first after it were accepted. What gets no answer is recorded long after it was sent. */
function areTaken(twins: readonly Recordeds<'webhook'>[], forged: Recordeds<'webhook'>): boolean {
  const heard = twins.filter(({ answer }) => !isBusy(answer))
  const before = heard.filter(twin => startedAt(twin) <= startedAt(forged)).at(-1)
  const after = heard.find(twin => startedAt(twin) > startedAt(forged))
  return [before, after].every(twin => twin !== undefined && isAck(twin))
}

/** What must not come was listened for: null. */
export const listened = (history: History): Finding | null =>
  history.of('quiet').length > 0 ? null : inconclusive('the run ended before the quiet time')

export const changeOf = ({ change }: Recordeds<'webhook'>) => (change === null ? '' : ` (${change})`)

/** What an agent attempted with its callbacks about a task: each once, however often it was repeated. */
export function attempts(history: History, taskId: string, action: string): Recordeds<'callback'>[] {
  const seen = new Set<string>()
  return history.callbacksOf(taskId).filter(callback => {
    if (callback.action !== action) return false
    const what = contentIn(callback)
    if (seen.has(what)) return false
    seen.add(what)
    return true
  })
}

/** The content that a callback delivers or says; the whole body of one that can't be read. */
export function contentIn({ body }: Recordeds<'callback'>): string {
  try {
    const { content = '', reason = '' } = JSON.parse(body.text ?? '')
    return `${content}\n${reason}`
  } catch {
    return body.text ?? body.base64 ?? ''
  }
}

/** Callbacks with a signature, as far as they were kept whole; others come with the key of the agent's builder. */
export const signedCallbacks = (history: History) =>
  history.of('callback').filter(({ signature, body }) => signature !== 'key' && isWhole(body))

const isWhole = (body: Content) => bytesOf(body).length === body.size

/** When it arrived, in real time. */
export const startedAt = ({ realAt, ms }: Recordeds<'callback' | 'webhook'>) => realAt - ms

export const headerOf = ({ headers }: Recordeds<'callback'>, wanted: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === wanted.toLowerCase())?.[1]

/** The object that a callback has sent; null if it is none. */
export function bodyIn({ body }: Recordeds<'callback'>): Record<string, unknown> | null {
  try {
    const value = JSON.parse(body.text ?? '')
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
