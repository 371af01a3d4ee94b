/** How tasks go on and end: revisions, cancellations, disputes and approvals, with every cent. */

import { bytesOf, type History, type Recordeds } from '../history/history.ts'
import { all, broken, type Check, type Finding, holds, inconclusive, noted, untested } from '../judging/check.ts'
import {
  arrivedAt,
  attemptsOf,
  ignoresRevisions,
  isDelivered,
  isRefused,
  NO_REVISIONS,
  refusedFieldsOf,
  unaskedDelivery,
  wasTaken,
  workAfter,
} from './attempts.ts'
import { contentIn, taskOf, toldBack } from './evidence.ts'
import { must, should } from './owed.ts'

const MOST_ACCEPTS = 3
const NOT_DELIVERED = 'the agent did not deliver the task'

const REVISED = {
  source: 'I-task-revision',
  quote: 'The buyer asks for changes to a delivered task: `in_progress` again',
}

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
  ignoresRevisions(history) ? NO_REVISIONS : broken('did not deliver the revision', asked)

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
    title: 'delivers again when a revision is asked for',
    level: 'must',
    law: must.deliverOnce,
    why: 'The buyer has paid, is not satisfied, and waits for ever.',
    fix: 'Handle `task.revision_requested`: work by its `revisionReason`, and deliver. The task is in progress already. A copy has the same delivery id, not the same task.',
    scenario: 'revisions',
    judge(history) {
      const finding = rounds(history, 'life.revision', 1)
      if (finding.holds !== true) return finding
      const { taskId, price } = taskOf(history, 'life.revision')
      return moved(history, taskId, 'hold') === price ? holds : inconclusive('the price was not held once')
    },
  },
  {
    id: 'life.revision-in-progress',
    title: 'does not decide about a task anew when a revision is asked for',
    level: 'should',
    law: {
      source: 'I-task-revision',
      quote: 'The buyer asks for changes to a delivered task: `in_progress` again',
    },
    why: 'The task is in progress already: an accept or a reject is refused with 400, and some agents give up then.',
    fix: 'On `task.revision_requested` send `deliver` alone, when the work is done.',
    scenario: 'revisions',
    judge(history) {
      const { taskId } = taskOf(history, 'life.revision')
      const asked = webhookOf(history, taskId, 'task.revision_requested')
      if (!asked) return untested(NOT_DELIVERED)
      const [again] = attemptsOf(history, taskId, 'accept', 'reject').filter(one => arrivedAt(one) > arrivedAt(asked))
      return again ? broken(`sent ${again.action} for a task that it had accepted`, asked, again) : holds
    },
  },
  {
    id: 'life.revision-differs',
    title: 'changes something in a revision',
    level: 'should',
    law: should.changeInRevisions,
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
    law: must.deliverOnce,
    why: 'An agent that allows three revisions owes the third too.',
    fix: 'Count nothing: each `task.revision_requested` asks for one delivery.',
    scenario: 'revisions',
    after: ['life.revision'],
    judge: history => rounds(history, 'life.revision-rounds', 3),
  },
  {
    id: 'life.second-reason',
    title: 'works by the reason of each revision, not by that of the first alone',
    level: 'should',
    law: should.changeInRevisions,
    why: 'The buyer asks twice, and gets the answer to the first question again.',
    fix: 'Take the `revisionReason` of the webhook that you work on, and keep none of an earlier one.',
    scenario: 'revisions',
    after: ['life.revision-differs', 'life.revision-rounds'],
    judge: byEachReason,
  },
  {
    id: 'life.cancelled',
    title: 'does no work on a task that was cancelled while it accepted it, and writes nothing about it',
    level: 'must',
    law: must.leaveWhatIsOver,
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
      const late = attemptsOf(history, task.taskId, 'message').find(one => arrivedAt(one) > arrivedAt(told))
      if (late) return broken('wrote about a cancelled task', told, late)
      return moved(history, task.taskId, 'refund') === task.price ? holds : inconclusive('the refund is not whole')
    },
  },
  {
    id: 'life.cancel-race',
    title: 'gives up a task that the buyer has cancelled a moment before',
    level: 'should',
    law: should.takeAsEnd,
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
    law: must.leaveWhatIsOver,
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
    law: must.leaveWhatIsOver,
    why: 'Whatever is decided, the work has ended.',
    fix: 'Answer 200 to `task.disputed`, and stop.',
    scenario: 'ends',
    after: ['life.dispute-refund'],
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
    law: must.leaveWhatIsOver,
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
    law: must.answer,
    why: 'A webhook that is refused comes again for a day, and the builder hears of the dispute last.',
    fix: 'Answer 200 to every event, even of a task that you had finished with.',
    scenario: 'days',
    after: ['life.dispute-refund'],
    judge(history) {
      const task = taskOf(history, 'life.dispute-last-minute')
      return quietAfter(history, task, 'task.disputed', { release: task.price, refund: task.price, clearing: 0 })
    },
  },
  {
    id: 'life.message',
    title: 'accepts messages in every state of a task',
    level: 'must',
    law: must.answer,
    why: 'A message that is refused holds up everything else about the task.',
    fix: 'Answer 200 to `task.message` in whatever state the task is.',
    scenario: 'messages',
    judge: messagesHeard,
  },
  {
    id: 'life.message-length',
    title: 'writes messages of an allowed length',
    level: 'should',
    law: { source: 'A-20', quote: 'A message is `content` of 1–5,000 characters' },
    why: 'What is longer is refused, and the buyer never reads it.',
    fix: 'Cut a message at 5,000 characters, and never send an empty one.',
    scenario: 'messages',
    judge: messagesFit,
  },
  {
    id: 'life.deactivated',
    title: 'goes on with an open task although its builder has deactivated it',
    level: 'must',
    law: must.treatAlike,
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

/** Whoever takes the words of the first reason into the work takes those of the second too. */
function byEachReason(history: History): Finding {
  const { taskId } = taskOf(history, 'life.revision-rounds')
  const asked = history.webhooksOf(taskId).filter(({ event }) => event === 'task.revision_requested')
  const taken = attemptsOf(history, taskId, 'deliver').filter(wasTaken)
  const [[one, first], [two, second]] = [0, 1].map(at => [asked[at], taken[at + 1]] as const) as [Round, Round]
  if (!one || !two || !first || !second) return untested('the agent did not deliver two revisions')
  if (contentIn(first) === contentIn(second)) return broken('delivered the first revision again', two, first, second)
  const isIn = (reason: string, work: Recordeds<'callback'>) =>
    contentIn(work).toLowerCase().includes(reason.toLowerCase())
  return isIn(reasonIn(one), first) && !isIn(reasonIn(two), second)
    ? broken('took the words of the first reason into its work, and not those of the second', two, first, second)
    : holds
}

type Round = readonly [Recordeds<'webhook'> | undefined, Recordeds<'callback'> | undefined]

const reasonIn = ({ body }: Recordeds<'webhook'>): string =>
  String(JSON.parse(bytesOf(body).toString()).data?.revisionReason)

function messagesFit(history: History): Finding {
  const written = history.of('callback').filter(({ action }) => action === 'message')
  if (written.length === 0) return untested('the agent wrote nothing')
  const refused = written.find(one => refusedFieldsOf(one).includes('content'))
  return refused ? broken('wrote a message that is too long, or empty', refused) : holds
}

/** Messages are heard in every state. */
function messagesHeard(history: History): Finding {
  const [task] = history.tasks('life.message')
  if (!task) return inconclusive('nothing was sent')
  const sent = history.webhooksOf(task.taskId).filter(({ event }) => event === 'task.message')
  const refused = sent.find(isRefused)
  if (refused) return broken(`did not accept a message: it ${toldBack(refused)}`, refused)
  return sent.length < 4 ? untested(NOT_DELIVERED) : holds
}

function gaveUp(history: History, taskId: string): Finding {
  const told = webhookOf(history, taskId, 'task.cancelled')
  if (told && isRefused(told)) return broken(`did not accept task.cancelled: it ${toldBack(told)}`, told)
  const accepts = attemptsOf(history, taskId, 'accept')
  return accepts.length > MOST_ACCEPTS ? broken(`tried to accept ${accepts.length} times`, ...accepts) : holds
}
