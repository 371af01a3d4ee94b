/** Events in an unexpected order, about unknown tasks, or during work. */

import { bytesOf, type History, hasDecided, type Recordeds } from '../history/history.ts'
import { all, broken, type Check, type Finding, holds, inconclusive, untested } from '../judging/check.ts'
import { arrivedAt, attemptsOf, isDelivered, isRefused, unaskedDelivery, workAfter } from './attempts.ts'
import { contentIn, taskOf, toldBack } from './evidence.ts'
import { must } from './owed.ts'

const IN_ORDER = { source: 'A-37', quote: 'Events of a task go one after another.' }
const MOST_ATTEMPTS = 3
const STOPS_MS = 2_000
const NOT_DELIVERED = 'the agent did not deliver the task'

const told = (history: History, taskId: string, event: string): Recordeds<'webhook'>[] =>
  history.webhooksOf(taskId).filter(one => one.event === event)

const unheard = (webhooks: readonly Recordeds<'webhook'>[]): Finding | undefined => {
  const refused = webhooks.find(isRefused)
  return refused && broken(`did not accept ${refused.event}: it ${toldBack(refused)}`, refused)
}

export const order: readonly Check[] = [
  {
    id: 'order.cancelled-first',
    title: 'does no work on a task whose cancellation comes before its submission',
    level: 'must',
    law: must.leaveWhatIsOver,
    why: 'A webhook that is retried comes late. Nobody pays for work on a cancelled task.',
    fix: 'Remember cancelled tasks, or at least look at the answer to `accept`: work only if it was accepted.',
    scenario: 'cancellations',
    after: ['life.cancelled'],
    judge(history) {
      const { taskId } = taskOf(history, 'order.cancelled-first')
      const refused = unheard(history.webhooksOf(taskId))
      if (refused) return refused
      const [work] = attemptsOf(history, taskId, 'deliver')
      return work ? broken('delivered a task that was cancelled', work) : holds
    },
  },
  {
    id: 'order.message-first',
    title: 'accepts a message about a task that it has not heard of yet, and decides about the task then',
    level: 'must',
    law: must.treatAlike,
    why: 'A message that is refused holds up everything else about the task.',
    fix: 'Answer 200 to a message about a task that you do not know, and keep it or forget it.',
    scenario: 'messages',
    judge(history) {
      const { taskId } = taskOf(history, 'order.message-first')
      const refused = unheard(history.webhooksOf(taskId))
      if (refused) return refused
      if (hasDecided(history, taskId)) return holds
      const submitted = told(history, taskId, 'task.submitted')
      return broken('did neither accept nor reject the task', ...submitted)
    },
  },
  {
    id: 'order.unknown-task',
    title: 'accepts an event of a task that it has never heard of, and stays up',
    level: 'must',
    law: must.answer,
    why: 'An agent with a new database, or whose builder did the first work by hand, gets such events.',
    fix: 'Answer 200, and do what the body asks for, or nothing.',
    scenario: 'disorder',
    judge(history) {
      const [task, next] = history.tasks('order.unknown-task')
      if (!task || !next) return inconclusive('nothing was sent')
      const refused = unheard(history.webhooksOf(task.taskId))
      if (refused) return refused
      const [after] = history.webhooksOf(next.taskId)
      if (!after) return inconclusive('nothing was sent afterwards')
      return isRefused(after) ? broken(`was not up afterwards: the next webhook ${toldBack(after)}`, after) : holds
    },
  },
  {
    id: 'order.interleaved',
    title: 'keeps apart five tasks that come at once',
    level: 'must',
    law: must.keepApart,
    why: 'One buyer gets the work of another.',
    fix: 'Keep nothing of a task in a variable that all share. Call the `callbackUrl` of the webhook that you are working on.',
    scenario: 'disorder',
    after: ['life.one-deliverable'],
    judge(history) {
      const tasks = history.tasks('order.interleaved')
      if (tasks.length === 0) return inconclusive('nothing was sent')
      return all(tasks.map(task => keptApart(history, task, tasks)))
    },
  },
  {
    id: 'order.message-after-end',
    title: 'does no further work because of a message on a completed task',
    level: 'must',
    law: must.leaveWhatIsOver,
    why: 'Buyers say thank you. A delivery of a completed task is refused.',
    fix: 'Take a message as words: reply, or do nothing.',
    scenario: 'ends',
    judge(history) {
      const { taskId } = taskOf(history, 'order.message-after-end')
      const [message] = told(history, taskId, 'task.message')
      if (!message) return untested(NOT_DELIVERED)
      const [work] = workAfter(history, taskId, arrivedAt(message))
      return unheard([message]) ?? (work ? broken(`sent ${work.action} for a message`, message, work) : holds)
    },
  },
  {
    id: 'order.dispute-in-work',
    title: 'stops when a task that it works on is disputed',
    level: 'must',
    law: must.leaveWhatIsOver,
    why: 'While a dispute is open every delivery is refused, however often it is tried.',
    fix: 'Stop when `task.disputed` comes. Do not repeat a delivery that was answered 400.',
    scenario: 'disorder',
    judge: stopped,
  },
  {
    id: 'order.late-copy-of-finished',
    title: 'does not work again when the submission of a completed task comes once more',
    level: 'must',
    law: must.leaveWhatIsOver,
    why: 'The work is done for nothing: the task was paid and is over.',
    fix: 'Keep delivery ids for two days at least, including those of finished tasks.',
    scenario: 'ends',
    after: ['life.one-deliverable', 'dup.retry'],
    judge(history) {
      const { taskId } = taskOf(history, 'order.late-copy-of-finished')
      const old = history.webhooksOf(taskId).find(({ change }) => change === 'old copy')
      if (!old) return untested(NOT_DELIVERED)
      const work = attemptsOf(history, taskId, 'deliver').find(one => arrivedAt(one) > arrivedAt(old))
      return work ? broken('delivered a task that was over', old, work) : holds
    },
  },
  {
    id: 'order.held-up',
    title: 'handles a task whose first webhook was lost, with a message right behind its retry',
    level: 'should',
    law: IN_ORDER,
    why: 'Networks lose webhooks. The retry is then the first that the agent hears.',
    fix: 'Look at the delivery id, not at the number of the attempt: a second attempt may be the first that arrives.',
    scenario: 'days',
    judge(history) {
      const { taskId } = taskOf(history, 'order.held-up')
      const refused = unheard(history.webhooksOf(taskId))
      if (refused) return refused
      const [submitted] = told(history, taskId, 'task.submitted')
      if (!submitted) return inconclusive('the retry was not sent')
      if (hasDecided(history, taskId)) return holds
      return broken('did neither accept nor reject the task', ...history.webhooksOf(taskId))
    },
  },
]

/** What it sent about this task belongs to this task. */
function keptApart(history: History, task: Recordeds<'task'>, all: readonly Recordeds<'task'>[]): Finding {
  const { taskId } = task
  const others = all.filter(other => other.taskId !== taskId)
  for (const callback of history.callbacksOf(taskId)) {
    const said = contentIn(callback)
    const crossed = others.find(other => other.canary !== '' && said.includes(other.canary))
    if (crossed) return broken('delivered the work for another task', callback)
  }
  const again = unaskedDelivery(history, taskId)
  if (again) return broken('delivered one of the tasks twice', again)
  if (isDelivered(history, taskId)) return holds
  const isTaken = history.stepsOf(taskId).some(({ trigger }) => trigger === 'accept')
  return isTaken && others.some(other => isDelivered(history, other.taskId))
    ? broken('accepted it with others, and delivered only those', ...history.webhooksOf(taskId))
    : untested(NOT_DELIVERED)
}

/** It may have sent its work before it could know. */
function stopped(history: History): Finding {
  const { taskId } = taskOf(history, 'order.dispute-in-work')
  const [disputed] = told(history, taskId, 'task.disputed')
  if (!disputed) return untested('the agent did not accept the task')
  const refused = unheard([disputed])
  if (refused) return refused
  if (stateIn(disputed) !== 'in_progress') return untested('the agent delivered before it could be disputed')
  const delivers = attemptsOf(history, taskId, 'deliver')
  const [first] = delivers
  const late = first && delivers.find(one => arrivedAt(one) > first.realAt + STOPS_MS)
  if (delivers.length > MOST_ATTEMPTS) return broken(`tried to deliver ${delivers.length} times`, disputed, ...delivers)
  return late ? broken('tried to deliver again and again', disputed, late) : holds
}

const stateIn = ({ body }: Recordeds<'webhook'>): string => JSON.parse(bytesOf(body).toString()).data.status
