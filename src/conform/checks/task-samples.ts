/** Tasks at the edges of what is allowed, and those of which the author has said what the agent does. */

import { type History, hasDecided, type Recordeds } from '../history/history.ts'
import { all, broken, type Check, type Finding, holds, inconclusive, leftOut, untested } from '../judging/check.ts'
import { attemptsOf, isMalformed, isRefused, MALFORMED, refusedFieldsOf, workAfter } from './attempts.ts'
import { toldBack } from './evidence.ts'
import { must, should } from './owed.ts'

const scenario = 'samples'
const MOST_REASON = 2_000

const stepOf = (history: History, taskId: string, ...triggers: string[]) =>
  history.stepsOf(taskId).find(({ trigger }) => triggers.includes(trigger))

/** Whichever way it was decided. */
function decided(history: History, label: string): Finding {
  const tasks = history.tasks(label)
  if (tasks.length === 0) return inconclusive('nothing was sent')
  return all(
    tasks.map(({ taskId, price }) => {
      if (hasDecided(history, taskId)) return holds
      const [told] = history.webhooksOf(taskId)
      if (!told) return inconclusive('nothing was sent')
      if (isRefused(told)) return broken(`did not accept the webhook: it ${toldBack(told)}`, told)
      if (isMalformed(history, taskId)) return untested(MALFORMED)
      return broken(`did neither accept nor reject the task for ${price} cents`, told)
    }),
  )
}

/** Each of the declared samples had this end, and not the other. */
function asDeclared(history: History, label: string, end: 'accept' | 'reject'): Finding {
  const tasks = history.tasks(label)
  if (tasks.length === 0) return leftOut(`no sample is declared that it ${end}s`)
  return all(
    tasks.map(({ taskId }) => {
      const step = stepOf(history, taskId, 'accept', 'reject')
      if (step?.trigger === end || (!step && end === 'accept' && hasDecided(history, taskId))) return holds
      if (!step && isMalformed(history, taskId)) return untested(MALFORMED)
      if (!step) return broken(`did not ${end} a sample that it ${end}s, as declared`, ...history.webhooksOf(taskId))
      const said = attemptsOf(history, taskId, step.trigger)
      return broken(`${step.trigger}ed a sample that it ${end}s, as declared`, step, ...said)
    }),
  )
}

const words = {
  why: 'A buyer who writes little, or offers another price, hears nothing, and the money stays held.',
  fix: 'Call back with `accept` or `reject` for each task that comes, whatever is in it.',
}

export const lifeSamples: readonly Check[] = [
  {
    id: 'life.content',
    title: 'delivers content and notes of an allowed length, also for the longest description',
    level: 'must',
    law: {
      source: 'I-deliverable-input',
      quote: '`content` (1–50,000 characters), optional `notes` (2,000 at most)',
    },
    why: 'What is longer is refused, and the work is lost.',
    fix: 'Cut the content at 50,000 characters and the notes at 2,000, and never deliver an empty text.',
    scenario,
    judge(history) {
      const delivers = history.of('callback').filter(({ action }) => action === 'deliver')
      if (delivers.length === 0) return untested('the agent did not deliver anything')
      const refused = delivers.find(one => refusedFieldsOf(one).some(field => ['content', 'notes'].includes(field)))
      return refused ? broken('delivered what is too long, or nothing', refused) : holds
    },
  },
  {
    id: 'life.smallest',
    title: 'decides about the smallest task there is',
    level: 'must',
    law: must.treatAlike,
    ...words,
    scenario,
    after: ['life.decides', 'bytes.no-requirements'],
    judge: history => decided(history, 'life.smallest'),
  },
  {
    id: 'life.price-is-free',
    title: 'decides about a task whose price is not its base price',
    level: 'must',
    law: must.treatAlike,
    ...words,
    scenario,
    after: ['life.decides'],
    judge: history => decided(history, 'life.price-is-free'),
  },
  {
    id: 'life.sample-accepted',
    title: 'accepts every task of the kind that its author has declared as accepted',
    level: 'must',
    law: must.doAsDeclared,
    why: 'Buyers choose it for these tasks.',
    fix: 'Accept them every time, or declare others under `accepts`.',
    scenario,
    after: ['sig.valid'],
    judge: history => asDeclared(history, 'life.sample-accepted', 'accept'),
  },
  {
    id: 'life.sample-rejected',
    title: 'rejects every task of the kind that its author has declared as rejected',
    level: 'must',
    law: must.doAsDeclared,
    why: 'The agent does what its author does not want done.',
    fix: 'Reject them, or take them out of `rejects`.',
    scenario,
    after: ['sig.valid'],
    judge: history => asDeclared(history, 'life.sample-rejected', 'reject'),
  },
  {
    id: 'life.rejects',
    title: 'does no work on a task that it has rejected, and the buyer gets everything back',
    level: 'must',
    law: must.leaveWhatIsOver,
    why: 'A rejected task is over: nobody gets the work, and nobody pays for it.',
    fix: 'Return after `reject`.',
    scenario,
    judge: rejectedQuietly,
  },
  {
    id: 'life.reject-reason',
    title: 'gives a reason when it rejects',
    level: 'should',
    law: should.giveReasons,
    why: 'The buyer does not know whether to ask for less, to pay more, or to look elsewhere.',
    fix: 'Send a `reason` of 2,000 characters at most with `reject`.',
    scenario,
    judge(history) {
      const rejects = history.of('callback').filter(({ action }) => action === 'reject')
      if (rejects.length === 0) return leftOut('the agent rejected nothing: declare a sample that it rejects')
      const bare = rejects.find(one => !hasReason(one))
      return bare ? broken('rejected without a reason', bare) : holds
    },
  },
]

function hasReason({ body }: Recordeds<'callback'>): boolean {
  try {
    const { reason } = JSON.parse(body.text ?? '')
    return typeof reason === 'string' && reason.trim() !== '' && [...reason].length <= MOST_REASON
  } catch {
    return false
  }
}

function rejectedQuietly(history: History): Finding {
  const rejected = history
    .tasks('life.sample-rejected')
    .concat(history.tasks('first-task'))
    .flatMap(task => {
      const step = stepOf(history, task.taskId, 'reject')
      return step ? [{ task, step }] : []
    })
  if (rejected.length === 0) return leftOut('the agent rejected nothing: declare a sample that it rejects')
  return all(
    rejected.map(({ task: { taskId, price }, step }) => {
      const [work] = workAfter(history, taskId, step.realAt)
      if (work) return broken(`sent ${work.action} for a task that it had rejected`, step, work)
      const refunds = history.moneyOf(taskId).filter(({ move }) => move === 'refund')
      const isWhole = refunds.length === 1 && refunds[0]!.amount === price
      return isWhole && attemptsOf(history, taskId, 'reject').length > 0
        ? holds
        : inconclusive('the refund is not whole')
    }),
  )
}
