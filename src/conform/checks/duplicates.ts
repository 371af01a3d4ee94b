/** At least once: whatever comes twice has one effect, and what only looks like a copy is none. */

import type { History, Recordeds } from '../history/history.ts'
import { broken, type Check, type Finding, holds, inconclusive, noted, untested } from '../judging/check.ts'
import {
  arrivedAt,
  attemptsOf,
  ignoresRevisions,
  isDelivered,
  isRefused,
  isRefusedAnyway,
  NO_REVISIONS,
  secondDecision,
  unaskedDelivery,
  wasOutOfTurn,
  wasTaken,
  workAfter,
} from './attempts.ts'
import { hasLooked, isAck, taskOf, toldBack } from './evidence.ts'
import { must } from './owed.ts'

const WORK_ONCE =
  'Keep the delivery ids of webhooks that you have taken, and answer 200 to one that you know, without doing anything.'

/** The task was worked on once, however often it was sent. */
function workedOnce(history: History, label: string): Finding {
  const { taskId } = taskOf(history, label)
  const sent = history.webhooksOf(taskId).filter(({ event }) => event === 'task.submitted')
  const other = secondDecision(history, taskId)
  if (other) return broken(`took the copy for something new: it decided twice, the second time ${other.action}`, other)
  const second = unaskedDelivery(history, taskId)
  if (second) return broken('took the copy for something new: it delivered twice', ...sent, second)
  if (!isDelivered(history, taskId)) return untested('the agent did not deliver the task')
  return sent.length > 1 ? holds : inconclusive('no copy was sent')
}

/** As often as the work was asked for it was delivered, and no more. */
function deliveredInRounds(history: History, label: string, rounds: number): Finding {
  const { taskId } = taskOf(history, label)
  const old = history.webhooksOf(taskId).find(({ change }) => change === 'old copy')
  const early = old && deliveredUnheard(history, old)
  if (early) return broken('took the copy for new work, and delivered before it had heard of the revision', old, early)
  const second = unaskedDelivery(history, taskId)
  if (second) return broken('delivered once more than it was asked to', second)
  if (!history.stepsOf(taskId).some(({ trigger }) => trigger === 'request_revision'))
    return untested('the agent did not deliver the task')
  return isDelivered(history, taskId, rounds) ? holds : untested('the agent did not deliver the revision')
}

/** A delivery for an old copy: the webhook that asks for new work came only afterwards. */
function deliveredUnheard(history: History, old: Recordeds<'webhook'>): Recordeds<'callback'> | undefined {
  const next = history
    .webhooksOf(old.taskId!)
    .find(({ event, change, seq }) => event === 'task.revision_requested' && change === null && seq > old.seq)
  const until = next ? arrivedAt(next) : Infinity
  const { seq: asked = 0 } =
    history.stepsOf(old.taskId!).findLast(({ trigger, seq }) => trigger === 'request_revision' && seq < old.seq) ?? {}
  return attemptsOf(history, old.taskId!, 'deliver').find(
    one => arrivedAt(one) >= arrivedAt(old) && arrivedAt(one) < until && !hasLooked(history, asked, one.seq),
  )
}

const copies = (fields: Pick<Check, 'id' | 'title' | 'level'> & Partial<Check>): Check => ({
  law: must.haveOneEffect,
  why: 'The work is done twice, and paid for once. What is delivered may not be what the buyer looks at.',
  fix: WORK_ONCE,
  scenario: 'copies of submissions',
  after: ['life.one-deliverable', 'dup.retry'],
  judge: history => workedOnce(history, fields.id),
  ...fields,
})

const revisions = (fields: Pick<Check, 'id' | 'title' | 'fix' | 'judge'> & Partial<Check>): Check =>
  copies({
    level: 'must',
    why: 'The buyer gets old work as the answer to a new request, and the new work is refused.',
    scenario: 'copies of revisions',
    ...fields,
  })

export const dup: readonly Check[] = [
  copies({
    id: 'dup.retry',
    title: 'works once on a task whose webhook is retried',
    level: 'must',
    law: must.haveOneEffect,
    after: ['life.one-deliverable'],
    judge(history) {
      const worked = workedOnce(history, 'dup.retry')
      const sent = history.webhooks('dup.retry')
      const refused = sent.find(({ attempt }) => attempt === 2)
      if (worked.holds === false || !refused || !isRefused(refused) || isRefused(sent[0]!)) return worked
      return broken(`does not accept the retry: it ${toldBack(refused)}, so that it is retried for a day`, refused)
    },
  }),
  copies({
    id: 'dup.same-bytes',
    title: 'works once on a task whose webhook comes twice, byte for byte the same',
    level: 'must',
  }),
  copies({
    id: 'dup.replayed',
    title: 'works once on a task whose webhook a stranger sends again, with another id or a second signature',
    level: 'should',
    law: must.haveOneEffect,
    why: 'The id is not signed, and a header may come twice: for five minutes a copy looks new to an agent that remembers what it has not verified.',
    fix: 'Remember the signature too, that very value with which you have verified, and refuse a header that comes twice.',
  }),
  copies({
    id: 'dup.at-once',
    title: 'works once on a task whose webhook comes twice at the same time',
    level: 'must',
    fix: 'Note the delivery id in the same step in which you look for it (a unique key in a database), before anything else is awaited.',
  }),
  copies({
    id: 'dup.late',
    title: 'works once on a task whose webhook is retried for more than a day',
    level: 'should',
    law: must.haveOneEffect,
    why: 'An agent whose answers get lost hears of the same task over 28 hours, with much else in between.',
    fix: 'Keep delivery ids for two days at least, however many there are.',
    scenario: 'days',
    after: ['life.one-deliverable'],
  }),
  copies({
    id: 'dup.redelivered',
    title: 'works once on a task whose webhook is sent again by hand, with a new delivery id',
    level: 'should',
    law: must.haveOneEffect,
    fix: 'Look also whether you have the task already: a second `task.submitted` of one task asks for nothing new.',
  }),
  copies({
    id: 'dup.after-restart',
    title: 'works once on a task whose webhook is retried after a restart',
    level: 'should',
    why: 'Every deployment would repeat the work whose webhooks were on their way.',
    fix: 'Keep delivery ids in a file or a database, not in memory alone.',
    scenario: 'a copy after a restart',
  }),
  copies({
    id: 'dup.message',
    title: 'replies once to a message whose webhook is retried',
    level: 'must',
    why: 'The buyer reads the same reply twice: nothing in the marketplace holds it back.',
    scenario: 'copies of later events',
    judge: repliedOnce,
  }),
  revisions({
    id: 'dup.revision',
    title: 'delivers once for a revision whose webhook is retried',
    fix: WORK_ONCE,
    judge: history => deliveredInRounds(history, 'dup.revision', 2),
  }),
  revisions({
    id: 'dup.submitted-in-revision',
    title: 'delivers nothing for a copy of the submission that comes while a revision is open',
    fix: 'Look at the delivery id before you look at the task, and never work twice on `task.submitted` of one task.',
    judge: history => deliveredInRounds(history, 'dup.submitted-in-revision', 2),
  }),
  revisions({
    id: 'dup.old-revision',
    title: 'delivers nothing for a copy of the first revision that comes while the second is open',
    fix: WORK_ONCE,
    after: ['life.one-deliverable', 'dup.retry', 'dup.revision'],
    judge: history => deliveredInRounds(history, 'dup.old-revision', 3),
  }),
  copies({
    id: 'dup.ends',
    title: 'accepts copies of approvals, cancellations and disputes, and does nothing about them',
    level: 'must',
    why: 'A copy that is refused comes again for a day. A copy that is taken for new makes the agent bother a buyer who is done.',
    fix: 'Answer 200 to every genuine webhook, also about a task that is over or that you do not know.',
    scenario: 'copies of later events',
    after: ['life.one-deliverable', 'dup.retry', 'life.dispute-refund', 'life.approved'],
    judge: endedQuietly,
  }),
  copies({
    id: 'dup.forged-does-not-burn',
    title: 'works on a task although a stranger has sent a forged webhook with the same delivery id before',
    level: 'must',
    law: must.refuse,
    why: 'Whoever can guess or overhear an id could make the agent miss tasks.',
    fix: 'Verify first. Note a delivery id only when the signature is right.',
    after: ['sig.valid'],
    judge: notBurnt,
  }),
  copies({
    id: 'dup.not-by-content',
    title: 'works on two tasks that are equal in all words and in the price',
    level: 'must',
    law: must.treatAlike,
    why: 'Two buyers who want the same, or one who wants it twice, have each paid for it.',
    fix: 'Recognise copies by the delivery id, never by title, description or price.',
    after: ['life.one-deliverable'],
    judge: workedOnBoth,
  }),
  copies({
    id: 'dup.not-by-task',
    title: 'hears every event of a task, not the first alone',
    level: 'must',
    law: must.haveOneEffect,
    why: 'The buyer who asks for a revision waits for ever.',
    fix: 'Recognise copies by the delivery id, never by the task alone.',
    scenario: 'copies of revisions',
    after: ['life.one-deliverable'],
    judge(history) {
      const { taskId } = taskOf(history, 'dup.not-by-task')
      if (!isDelivered(history, taskId)) return untested('the agent did not deliver the task')
      const revision = history.webhooksOf(taskId).filter(({ event }) => event === 'task.revision_requested')
      if (isDelivered(history, taskId, 2)) return holds
      return ignoresRevisions(history) ? NO_REVISIONS : broken('did nothing about the revision', ...revision)
    },
  }),
  copies({
    id: 'dup.not-by-text',
    title: 'hears two messages with the same words, and replies to both if it replies at all',
    level: 'must',
    law: must.haveOneEffect,
    why: 'A buyer who asks “How far are you?” twice gets one reply.',
    fix: 'Recognise copies by the delivery id, never by the text of a message.',
    scenario: 'copies of later events',
    after: [],
    judge: repliedToBoth,
  }),
  copies({
    id: 'dup.quiet',
    title: 'sends no callback for a copy that the marketplace has to refuse',
    level: 'should',
    law: { source: 'I-out-of-turn', quote: 'A step that the state does not allow is refused with 400.' },
    why: 'Each such request is wasted, and real refusals are lost among them.',
    judge: refusedNothing,
  }),
]

const repliesTo = (history: History, label: string) =>
  history.tasks(label).flatMap(({ taskId }) => attemptsOf(history, taskId, 'message').filter(wasTaken))

function repliedOnce(history: History): Finding {
  const plain = repliesTo(history, 'dup.message/plain')
  const copied = repliesTo(history, 'dup.message/copied')
  const sent = history.webhooks('dup.message/copied').filter(({ event }) => event === 'task.message')
  if (sent.length < 2) return untested('the agent did not deliver the task')
  if (copied.length > Math.max(1, plain.length)) return broken('replied to the copy too', ...sent, ...copied)
  return copied.length === 0 ? noted('it replies to no message') : holds
}

function endedQuietly(history: History): Finding {
  const ends = ['dup.ends/cancelled', 'dup.ends/approved', 'dup.ends/disputed']
  const tested = ends.map(label => {
    const sent = history.webhooks(label).filter(({ event }) => event === `task.${label.slice('dup.ends/'.length)}`)
    const [first, ...others] = sent
    if (!first || others.length === 0) return untested('the agent did not deliver the task')
    const refused = isAck(first) ? others.find(isRefused) : undefined
    if (refused) return broken(`did not accept the copy: it ${toldBack(refused)}`, refused)
    const [work] = workAfter(history, first.taskId!, arrivedAt(first))
    if (work) return broken(`sent ${work.action} about a task that was over`, first, work)
    const said = attemptsOf(history, first.taskId!, 'message').filter(one => arrivedAt(one) > arrivedAt(first))
    const again = said.filter(one => arrivedAt(one) > arrivedAt(others[0]!))
    return again.length > 0 && again.length < said.length
      ? broken('sent its message for the copy again', ...said)
      : holds
  })
  return tested.find(({ holds }) => holds === false) ?? tested.find(({ holds }) => holds === null) ?? holds
}

function notBurnt(history: History): Finding {
  const decided = ({ taskId }: { taskId: string }) => history.callbacksOf(taskId).length > 0
  const [task, twin] = history.tasks('dup.forged-does-not-burn')
  if (!task || !twin) return inconclusive('nothing was sent')
  if (decided(task)) return holds
  if (!decided(twin)) return untested('the agent did not decide about the like task without a forged webhook either')
  return broken('did nothing about the genuine webhook', ...history.webhooksOf(task.taskId))
}

function workedOnBoth(history: History): Finding {
  const [first, second] = history.tasks('dup.not-by-content')
  if (!first || !second || !isDelivered(history, first.taskId)) return untested('the agent did not deliver the first')
  if (isDelivered(history, second.taskId)) return holds
  const rejected = history.stepsOf(second.taskId).some(({ trigger }) => trigger === 'reject')
  if (rejected) return untested('the agent rejected the second')
  return broken('did not deliver the second', ...history.webhooksOf(second.taskId))
}

/** The reply to the second may be here as soon as that was sent: moments of two connections can't be told apart so closely. */
const CLOSE_MS = 20

function repliedToBoth(history: History): Finding {
  const { taskId } = taskOf(history, 'dup.not-by-text')
  const sent = history.webhooksOf(taskId).filter(({ event }) => event === 'task.message')
  const [first, second] = sent
  if (!first || !second) return untested('the agent did not deliver the task')
  if (isAck(first) && isRefused(second)) return broken(`did not accept the second: it ${toldBack(second)}`, second)
  const replies = attemptsOf(history, taskId, 'message').filter(wasTaken)
  const before = replies.filter(reply => arrivedAt(reply) < arrivedAt(second) - CLOSE_MS)
  if (before.length === 0) return noted('it did not reply to the first before the second came')
  return replies.length > before.length ? holds : broken('replied to the first alone', ...sent, ...before)
}

/** Who sends a webhook again by hand wants it to be heard again. Agents that remember nothing over a restart are judged for that alone. */
function refusedNothing(history: History): Finding {
  if (isRefusedAnyway(history)) return noted('callbacks without any copy are refused too')
  // Where the work was done twice, that is what counts.
  const isAsked = ({ label, taskId }: Recordeds<'callback'>) =>
    label?.startsWith('dup.') &&
    !/^dup\.(?:redelivered|after-restart|late)/.test(label) &&
    !unaskedDelivery(history, taskId)
  const refused = history.of('callback').find(one => wasOutOfTurn(one) && isAsked(one))
  return refused ? broken(`sent ${refused.action}, and was refused with ${refused.answer?.status}`, refused) : holds
}
