/** What an agent does about a task: decide, accept, deliver, or turn it down. */

import type { History } from '../history/history.ts'
import { behind, broken, type Check, type Finding, holds, inconclusive, leftOut, untested } from '../judging/check.ts'
import { within } from '../judging/timing.ts'
import {
  arrivedAt,
  attemptsOf,
  isDelivered,
  isMalformed,
  MALFORMED,
  unaskedDelivery,
  wasOutOfTurn,
  wasTaken,
} from './attempts.ts'
import { isAck, taskOf } from './evidence.ts'
import { must } from './owed.ts'

const FIRST = 'first-task'
const scenario = 'first contact'
/** Requests that are sent at the same time may change places on their way. */
const SAME_TIME_MS = 250
/** The moment that a request came is the difference of two whole numbers. */
const ROUNDED_MS = 1

const step = (history: History, taskId: string, trigger: string) =>
  history.stepsOf(taskId).find(one => one.trigger === trigger)

const decision = (history: History, taskId: string) =>
  step(history, taskId, 'accept') ?? step(history, taskId, 'reject')

const UNHEARD = untested(MALFORMED)

/** What can be said of a task that the agent has not accepted. */
const notAccepted = (history: History, taskId: string): Finding =>
  untested(step(history, taskId, 'reject') ? 'the agent rejected the sample' : 'the agent did not accept the sample')

export const life: readonly Check[] = [
  {
    id: 'life.decides',
    title: 'accepts or rejects a task in time',
    level: 'should',
    law: { source: 'I-task-accept', quote: 'accepts a pending task' },
    why: 'The money of the buyer is held, and nobody knows whether anything will happen.',
    fix: 'Call back with `accept` or `reject` for each `task.submitted`, before the work.',
    scenario,
    after: ['sig.valid'],
    judge(history) {
      const { taskId, realAt } = taskOf(history, FIRST)
      const { answer } = history.begin.patience
      const decided = decision(history, taskId)
      const submitted = history.webhooksOf(taskId)
      if (!decided && isMalformed(history, taskId)) return UNHEARD
      if (!decided && !submitted.some(isAck)) return untested('it did not accept the webhook of the task')
      if (!decided) return broken('did neither accept nor reject the task', ...submitted)
      return within(history, { from: realAt, to: decided.realAt }, answer, ms =>
        broken(`decided after ${ms} ms, and ${answer} was the limit`, ...submitted, decided),
      )
    },
  },
  {
    id: 'life.accepts',
    title: 'takes a task by accepting it',
    level: 'should',
    law: { source: 'I-task-accept', quote: 'accepts a pending task: `in_progress`.' },
    why: 'Whatever else an agent says, the task stays pending, and the buyer may cancel it at any moment.',
    fix: 'Send a callback with `"action": "accept"` first.',
    scenario,
    judge(history) {
      const { taskId, price } = taskOf(history, FIRST)
      if (step(history, taskId, 'accept')) return heldOnce(history, taskId, price)
      if (isMalformed(history, taskId)) return UNHEARD
      const other = history.callbacksOf(taskId).find(({ action }) => action !== 'deliver')
      if (other && !decision(history, taskId))
        return broken(
          other.action === 'accept'
            ? `sent an accept that was refused with ${other.answer?.status ?? 'no answer'}`
            : `called back with ${other.action} in place of accept`,
          other,
        )
      return notAccepted(history, taskId)
    },
  },
  {
    id: 'life.accept-before-deliver',
    title: 'accepts a task before it delivers',
    level: 'must',
    law: { source: 'I-task-deliver', quote: "The builder's side delivers a task in progress" },
    why: 'A delivery of a pending task is refused, and the work is lost.',
    fix: 'Wait for the answer to `accept`, then deliver.',
    scenario,
    judge: history => acceptedFirst(history, taskOf(history, FIRST).taskId),
  },
  {
    id: 'life.delivers',
    title: 'delivers what it has accepted, in time',
    level: 'should',
    law: { source: 'I-task-deliver', quote: 'delivers a task in progress' },
    why: 'An accepted task can’t be cancelled: the buyer has to dispute it to get the money back.',
    fix: 'Send a callback with `"action": "deliver"` and the `content` when the work is done. If it can’t be done, reject the task at once.',
    scenario,
    judge(history) {
      const { taskId } = taskOf(history, FIRST)
      const accepted = step(history, taskId, 'accept')
      if (!accepted) return notAccepted(history, taskId)
      if (history.begin.declared.includes('a person does the work'))
        return leftOut('a person does the work, as declared')
      const delivered = step(history, taskId, 'deliver')
      if (!delivered && isMalformed(history, taskId)) return UNHEARD
      if (!delivered && acceptedFirst(history, taskId).holds === false)
        return behind('life.accept-before-deliver', 'after life.accept-before-deliver failed')
      if (!delivered) return broken('accepted the task and did not deliver', accepted)
      const { work } = history.begin.patience
      return within(history, { from: accepted.realAt, to: delivered.realAt }, work, ms =>
        broken(`delivered after ${ms} ms, and ${work} was the limit`, accepted, delivered),
      )
    },
  },
  {
    id: 'life.one-deliverable',
    title: 'delivers once what was asked for once',
    level: 'must',
    law: must.deliverOnce,
    why: 'The first delivery is what the buyer looks at and pays. A second one is refused, even if it is better.',
    fix: 'Deliver when the work is done, and no draft before.',
    scenario,
    judge(history) {
      const { taskId } = taskOf(history, FIRST)
      const second = unaskedDelivery(history, taskId)
      if (second) return broken('delivered twice, with different contents', ...attemptsOf(history, taskId, 'deliver'))
      return isDelivered(history, taskId) ? holds : untested('the agent did not deliver the sample')
    },
  },
  {
    id: 'life.done-once',
    title: 'sends nothing again that was delivered and answered 200',
    level: 'should',
    law: { source: 'I-out-of-turn', quote: 'A step that the state does not allow is refused with 400.' },
    why: 'If the same text comes of work that was done twice, it costs its builder twice and is paid for once: nobody sees it but the bill.',
    fix: 'Take 200 as the end of a delivery, and start the work of a task in one place alone.',
    scenario,
    after: ['life.one-deliverable'],
    judge(history) {
      const { taskId } = taskOf(history, FIRST)
      const delivers = attemptsOf(history, taskId, 'deliver')
      const taken = delivers.find(wasTaken)
      if (!taken) return untested('the agent did not deliver the sample')
      const again = delivers.find(one => arrivedAt(one) > taken.realAt)
      return again ? broken('delivered the same once more', taken, again) : holds
    },
  },
]

/** Nothing that an agent does changes what it is paid: if this is not so, it is a fault of ours. */
function heldOnce(history: History, taskId: string, price: number): Finding {
  const held = history.moneyOf(taskId).filter(({ move }) => move === 'hold')
  return held.length === 1 && held[0]!.amount === price ? holds : inconclusive('the price was not held once')
}

function acceptedFirst(history: History, taskId: string): Finding {
  const [delivery] = attemptsOf(history, taskId, 'deliver')
  if (!delivery) return untested('the agent did not deliver the sample')
  const until = arrivedAt(delivery) + SAME_TIME_MS
  const accepted = step(history, taskId, 'accept')
  const asked = attemptsOf(history, taskId, 'accept').filter(one => arrivedAt(one) <= until)
  const knewBefore = asked.length > 0 && asked.every(one => arrivedAt(one) >= delivery.realAt - ROUNDED_MS)
  if (knewBefore && wasOutOfTurn(delivery))
    return broken('delivered first, and accepted only when that was refused', delivery, asked[0]!)
  if (asked.length > 0 || (accepted && accepted.realAt <= until)) return holds
  return broken('delivered a task that it had not accepted', delivery)
}
