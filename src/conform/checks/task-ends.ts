/** How tasks go on and end: revisions, cancellations, disputes and approvals, with every cent. */

import type { History, Recordeds } from '../history/history.ts'
import { all, broken, type Check, type Finding, holds, inconclusive, noted, untested } from '../judging/check.ts'
import {
  arrivedAt,
  attemptsOf,
  ignoresRevisions,
  isDelivered,
  isRefused,
  NO_REVISIONS,
  unaskedDelivery,
  wasTaken,
  workAfter,
} from './attempts.ts'
import { contentIn, taskOf, toldBack } from './evidence.ts'

const MOST_ACCEPTS = 3
const NOT_DELIVERED = 'the agent did not deliver the task'

const REVISED = {
  source: 'I-task-revision',
  quote: 'The buyer asks for changes to a delivered task: `in_progress` again',
}
const CANCELLED = { source: 'A-46', quote: 'no work after a cancellation or in a dispute' }
const APPROVED = { source: 'I-task-approve', quote: '`completed`, the payment is released' }

const webhookOf = (history: History, taskId: string, event: string): Recordeds<'webhook'> | undefined =>
  history.webhooksOf(taskId).find(one => one.event === event)

/** Cents that moved in this way. What the agent does can't change them, so if they are wrong it is a fault of ours. */
const moved = (history: History, taskId: string, move: string): number =>
  history
    .moneyOf(taskId)
    .filter(one => one.move === move)
    .reduce((sum, { amount }) => sum + amount, 0)

/** The event was accepted, nothing was done about the task after it, and the cents went where they belong. */
function quietAfter(history: History, task: Recordeds<'task'>, event: string, cents: Record<string, number>): Finding {
  const { taskId } = task
  const told = webhookOf(history, taskId, event)
  if (!told) return untested(NOT_DELIVERED)
  if (isRefused(told)) return broken(`did not accept ${event}: it ${toldBack(told)}`, told)
  const [work] = workAfter(history, taskId, arrivedAt(told))
  if (work) return broken(`sent ${work.action} after ${event}`, told, work)
  const wrong = Object.entries(cents).find(([move, amount]) => moved(history, taskId, move) !== amount)
  return wrong ? inconclusive(`the cents of ${wrong[0]} are not ${wrong[1]}`) : holds
}

/** An agent that delivers no revision at all is told so once. */
const undone = (history: History, asked: Recordeds<'webhook'>): Finding =>
  ignoresRevisions(history) ? untested(NO_REVISIONS) : broken('did not deliver the revision', asked)

const rounds = (history: History, label: string, count: number): Finding => {
  const { taskId } = taskOf(history, label)
  if (!webhookOf(history, taskId, 'task.revision_requested')) return untested(NOT_DELIVERED)
  const unasked = unaskedDelivery(history, taskId)
  if (unasked) return broken('delivered once more than it was asked to', unasked)
  if (isDelivered(history, taskId, count + 1)) return holds
  const asked = history.webhooksOf(taskId).filter(({ event }) => event === 'task.revision_requested')
  return broken(`did not deliver revision ${asked.length}`, ...asked.slice(-1))
}

export const lifeEnds: readonly Check[] = [
  {
    id: 'life.revision',
    title: 'delivers again when a revision is asked for, without accepting anew',
    level: 'must',
    law: REVISED,
    why: 'The buyer has paid, is not satisfied, and waits for ever.',
    fix: 'Handle `task.revision_requested`: work by its `revisionReason`, and deliver. The task is in progress already. A copy has the same delivery id, not the same task.',
    scenario: 'revisions',
    judge(history) {
      const finding = rounds(history, 'life.revision', 1)
      if (finding.holds !== true) return finding
      const { taskId } = taskOf(history, 'life.revision')
      const asked = webhookOf(history, taskId, 'task.revision_requested')!
      const [again] = attemptsOf(history, taskId, 'accept', 'reject').filter(one => arrivedAt(one) > arrivedAt(asked))
      if (again) return broken(`sent ${again.action} for a task that it had accepted`, asked, again)
      return moved(history, taskId, 'hold') === taskOf(history, 'life.revision').price
        ? holds
        : inconclusive('the price was not held once')
    },
  },
  {
    id: 'life.revision-differs',
    title: 'changes something in a revision',
    level: 'should',
    law: { source: 'A-46', quote: 'change something in a revision' },
    why: 'The buyer gets the same work again, and has one revision less.',
    fix: 'Take the `revisionReason` into the work.',
    scenario: 'revisions',
    after: ['life.revision'],
    judge(history) {
      const { taskId } = taskOf(history, 'life.revision')
      const [first, second] = attemptsOf(history, taskId, 'deliver').filter(wasTaken)
      if (!first || !second) return untested('the agent did not deliver the revision')
      return contentIn(first) === contentIn(second) ? broken('delivered the same once more', first, second) : holds
    },
  },
  {
    id: 'life.revision-rounds',
    title: 'delivers once in each of three rounds of revisions',
    level: 'must',
    law: REVISED,
    why: 'An agent that allows three revisions owes the third too.',
    fix: 'Count nothing: each `task.revision_requested` asks for one delivery.',
    scenario: 'revisions',
    after: ['life.revision'],
    judge: history => rounds(history, 'life.revision-rounds', 3),
  },
  {
    id: 'life.cancelled',
    title: 'does no work on a task that was cancelled while it was accepting it',
    level: 'must',
    law: CANCELLED,
    why: 'Nobody pays for work on a cancelled task.',
    fix: 'Look at the answer to `accept`, and work only if it was taken. Stop when `task.cancelled` comes.',
    scenario: 'cancellations',
    after: ['life.accept-before-deliver'],
    judge(history) {
      const task = taskOf(history, 'life.cancelled')
      const told = webhookOf(history, task.taskId, 'task.cancelled')
      if (!told) return untested('the agent did not accept the task')
      if (isRefused(told)) return broken(`did not accept task.cancelled: it ${toldBack(told)}`, told)
      const [work] = attemptsOf(history, task.taskId, 'deliver')
      if (work) return broken('delivered a cancelled task', told, work)
      return moved(history, task.taskId, 'refund') === task.price ? holds : inconclusive('the refund is not whole')
    },
  },
  {
    id: 'life.cancel-race',
    title: 'gives up a task that the buyer has cancelled a moment before',
    level: 'must',
    law: { source: 'I-status-bad', quote: '409 a duplicate or a lost race' },
    why: 'An agent that keeps trying to accept works for nobody, and meets the rate limits.',
    fix: 'Take 400 and 409 to `accept` as the end of the task.',
    scenario: 'cancellations',
    judge(history) {
      const lost = history
        .tasks('life.cancel-race')
        .filter(({ taskId }) => history.stepsOf(taskId).some(({ trigger }) => trigger === 'cancel'))
      if (lost.length === 0) return noted('it was quicker than the buyer each time')
      return all(lost.map(({ taskId }) => gaveUp(history, taskId)))
    },
  },
  {
    id: 'life.dispute-refund',
    title: 'leaves a delivered task alone when it is disputed, and the buyer gets the money back',
    level: 'must',
    law: CANCELLED,
    why: 'A dispute is decided by people. More deliveries change nothing, and are refused.',
    fix: 'Answer 200 to `task.disputed`, and stop.',
    scenario: 'ends',
    judge(history) {
      const task = taskOf(history, 'life.dispute-refund')
      return quietAfter(history, task, 'task.disputed', { refund: task.price, release: 0 })
    },
  },
  {
    id: 'life.dispute-release',
    title: 'leaves a disputed task alone that is then paid in full or in part',
    level: 'must',
    law: CANCELLED,
    why: 'Whatever is decided, the work has ended.',
    fix: 'Answer 200 to `task.disputed`, and stop.',
    scenario: 'ends',
    judge(history) {
      const [full, part] = history.tasks('life.dispute-release')
      if (!full || !part) return inconclusive('nothing was sent')
      const half = Math.floor(part.price / 2)
      return all([
        quietAfter(history, full, 'task.disputed', { release: full.price, refund: 0 }),
        quietAfter(history, part, 'task.disputed', { release: part.price - half, refund: half }),
      ])
    },
  },
  {
    id: 'life.approved',
    title: 'does nothing more on an approved task, and its builder has the money two days later',
    level: 'must',
    law: APPROVED,
    why: 'The task is over. Whatever is sent about it is refused.',
    fix: 'Answer 200 to `task.approved`, and forget the work, though not the delivery id.',
    scenario: 'days',
    judge(history) {
      const task = taskOf(history, 'life.approved')
      return quietAfter(history, task, 'task.approved', { release: task.price, clearing: task.price })
    },
  },
  {
    id: 'life.dispute-last-minute',
    title: 'accepts a dispute that comes two days after the approval',
    level: 'must',
    law: { source: 'I-task-dispute', quote: 'or a completed one within 48 hours of its completion' },
    why: 'A webhook that is refused comes again for a day, and the builder hears of the dispute last.',
    fix: 'Answer 200 to every event, even of a task that you had finished with.',
    scenario: 'days',
    judge(history) {
      const task = taskOf(history, 'life.dispute-last-minute')
      return quietAfter(history, task, 'task.disputed', { release: task.price, refund: task.price, clearing: 0 })
    },
  },
  {
    id: 'life.message',
    title: 'accepts messages in every state of a task, and writes nothing once it is cancelled',
    level: 'must',
    law: { source: 'A-20', quote: 'A message is `content` of 1–5,000 characters, not in a draft or a cancelled task' },
    why: 'A message that is refused holds up everything else about the task.',
    fix: 'Answer 200 to `task.message` in whatever state the task is. Send nothing about a cancelled task.',
    scenario: 'messages',
    judge: messagesHeard,
  },
  {
    id: 'life.deactivated',
    title: 'goes on with an open task although its builder has deactivated it',
    level: 'must',
    law: { source: 'A-31', quote: 'A deactivated agent finishes its work and hears of it.' },
    why: 'The buyers of open tasks have paid.',
    fix: 'Do not look up whether you are listed: work on what comes.',
    scenario: 'days',
    judge(history) {
      const { taskId } = taskOf(history, 'life.deactivated')
      const told = history.webhooksOf(taskId).at(-1)!
      if (told.event === 'task.submitted') return untested(NOT_DELIVERED)
      if (isRefused(told)) return broken(`did not accept ${told.event}: it ${toldBack(told)}`, told)
      if (told.event === 'task.message' || isDelivered(history, taskId, 2)) return holds
      return undone(history, told)
    },
  },
  {
    id: 'life.day-later',
    title: 'hears of an approval and a revision that come a day after the delivery',
    level: 'should',
    law: REVISED,
    why: 'Buyers look when they have time.',
    fix: 'Set no time after which a delivered task is over.',
    scenario: 'days',
    judge(history) {
      const [approved, revised] = history.tasks('life.day-later')
      if (!approved || !revised) return inconclusive('nothing was sent')
      const told = webhookOf(history, approved.taskId, 'task.approved')
      if (told && isRefused(told)) return broken(`did not accept the approval: it ${toldBack(told)}`, told)
      const asked = webhookOf(history, revised.taskId, 'task.revision_requested')
      if (!told || !asked) return untested('the agent did not deliver, or takes no revisions')
      return isDelivered(history, revised.taskId, 2) ? holds : undone(history, asked)
    },
  },
]

/** Messages are heard in every state, and replies are of an allowed length. */
function messagesHeard(history: History): Finding {
  const [task, cancelled] = history.tasks('life.message')
  if (!task || !cancelled) return inconclusive('nothing was sent')
  const sent = history.webhooksOf(task.taskId).filter(({ event }) => event === 'task.message')
  const refused = sent.find(isRefused)
  if (refused) return broken(`did not accept a message: it ${toldBack(refused)}`, refused)
  const end = webhookOf(history, cancelled.taskId, 'task.cancelled')
  const late = end && attemptsOf(history, cancelled.taskId, 'message').find(one => arrivedAt(one) > arrivedAt(end))
  if (late) return broken('wrote about a cancelled task', end, late)
  return sent.length < 4 ? untested(NOT_DELIVERED) : holds
}

function gaveUp(history: History, taskId: string): Finding {
  const told = webhookOf(history, taskId, 'task.cancelled')
  if (told && isRefused(told)) return broken(`did not accept task.cancelled: it ${toldBack(told)}`, told)
  const accepts = attemptsOf(history, taskId, 'accept')
  return accepts.length > MOST_ACCEPTS ? broken(`tried to accept ${accepts.length} times`, ...accepts) : holds
}
