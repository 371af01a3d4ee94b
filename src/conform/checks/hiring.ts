/** The agent as a buyer of other agents' work. */

import type { History } from '../history/history.ts'
import { broken, type Check, type Finding, holds, inconclusive, untested } from '../judging/check.ts'
import { isAck, taskOf, toldBack } from './evidence.ts'
import { must, should } from './owed.ts'

const LABEL = 'hire.delivered-to-buyer'
const scenario = 'hires'

const deliveredTo = (history: History) =>
  history.webhooks(LABEL).filter(({ event }) => event === 'task.delivered_to_buyer')

function hears(history: History): Finding {
  const [webhook] = deliveredTo(history)
  if (!webhook) return inconclusive('no webhook was sent')
  return isAck(webhook) ? holds : broken(`did not accept it: it ${toldBack(webhook)}`, webhook)
}

function ends(history: History): Finding {
  const { taskId } = taskOf(history, LABEL)
  const ended = history.stepsOf(taskId).some(({ from }) => from === 'delivered')
  return ended ? holds : broken('neither approved it nor asked for changes', ...deliveredTo(history))
}

/** What it has asked the marketplace about a task, in its role as a buyer. */
const requestsTo = (history: History, path: string) =>
  history.of('request').filter(request => request.method === 'POST' && request.path.endsWith(path))

function paysOnce(history: History): Finding {
  const { taskId } = taskOf(history, LABEL)
  const approvals = requestsTo(history, `/api/tasks/${taskId}/approve`)
  const first = approvals.findIndex(({ status }) => status !== null && status < 300)
  const more = first === -1 ? [] : approvals.slice(first + 1)
  if (more.length > 0) return broken('approved the same delivery again', approvals[first]!, ...more)
  return approvals.length > 0 ? holds : untested('the agent did not approve it')
}

const MOST_REFUSED = 5

function overCap(history: History): Finding {
  const { seq } = taskOf(history, 'hire.over-cap')
  const end = history.of('scenario').find(one => one.scenario === scenario)?.seq ?? Infinity
  const requests = history.of('request').filter(one => one.seq > seq && one.seq < end)
  const orders = requests.filter(one => /\/api\/tasks\/[^/]+\/submit$/.test(one.path))
  const refused = orders.filter(({ status }) => status === 400)
  if (orders.length === 0) return untested('the agent ordered nothing for this task')
  if (refused.length <= MOST_REFUSED) return holds
  return broken(`ordered ${refused.length} times what it was refused`, ...refused.slice(0, 3))
}

function notTheSeller(history: History): Finding {
  const { taskId } = taskOf(history, LABEL)
  const [callback] = history.callbacksOf(taskId)
  return callback ? broken(`sent ${callback.action} about a task that it has ordered`, callback) : holds
}

export const hire: readonly Check[] = [
  {
    id: LABEL,
    title: 'accepts the webhook which says that its order was delivered',
    level: 'must',
    law: must.answer,
    why: 'An agent that refuses it never learns that its order has arrived.',
    fix: 'Answer 200 to task.delivered_to_buyer, as to every event.',
    scenario,
    judge: hears,
  },
  {
    id: 'hire.ends-it',
    title: 'approves what it has ordered, asks for changes, or disputes it',
    level: 'should',
    law: { source: 'I-task-approve', quote: 'The buyer approves a delivered task' },
    why: 'The money stays held, and the other agent is not paid.',
    fix: 'On task.delivered_to_buyer call approve, request-revision or dispute with your key.',
    scenario,
    after: [LABEL],
    judge: ends,
  },
  {
    id: 'hire.pays-once',
    title: 'approves a delivery once, although it hears of it twice',
    level: 'must',
    law: must.haveOneEffect,
    why: 'A payment that is made twice is wrong once.',
    fix: 'Recognise copies of task.delivered_to_buyer by their delivery id, as with any other event.',
    scenario,
    after: [LABEL],
    judge: paysOnce,
  },
  {
    id: 'hire.over-cap',
    title: 'does not order again and again what its budget does not allow',
    level: 'should',
    law: should.takeAsEnd,
    why: 'The budget is the same at the next attempt, and the marketplace is kept busy.',
    fix: 'Take a 400 at submit as an end: do the work yourself, or reject the task.',
    scenario,
    judge: overCap,
  },
  {
    id: 'hire.not-the-seller',
    title: 'sends no callback about a task that it has ordered',
    level: 'should',
    law: {
      source: 'I-events-internal',
      quote: '`task.delivered_to_buyer` goes to the buying agent of a task between agents.',
    },
    why: 'A buyer neither accepts nor delivers: each such callback is refused.',
    fix: 'Look at the name of the event before you work on it.',
    scenario,
    judge: notTheSeller,
  },
]
