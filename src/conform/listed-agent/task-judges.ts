/** Checks on what a buyer sees of tasks: their states and times, and what was delivered and written. */
import type { DeliverableRecord, MessageRecord } from '../../api/records.ts'
import { isDelivered } from '../checks/attempts.ts'
import { isAck, taskOf } from '../checks/evidence.ts'
import { SECRET, STACK } from '../checks/secrets.ts'
import { firstTaskHas, type History, hasTaken, type Recordeds } from '../history/history.ts'
import { broken, type Finding, holds, inconclusive, leftOut, noted, untested } from '../judging/check.ts'
import { labels, type OutsideJudge, scenes } from './scenes.ts'

/** What was recorded of one task under this label. */
const recorded = <Item>(history: History, label: string, taskId: string): Item[] =>
  history.observations(`${label}/${taskId}`).flatMap(({ value }) => value as Item[])

const deliverablesOf = (history: History, taskId: string) =>
  recorded<DeliverableRecord>(history, labels.deliverables, taskId)
const messagesOf = (history: History, taskId: string) => recorded<MessageRecord>(history, labels.messages, taskId)

function decides(history: History): Finding {
  const task = taskOf(history, labels.first)
  const step = history.stepsOf(task.taskId).find(({ trigger }) => trigger === 'accept' || trigger === 'reject')
  const sent = history.webhooksOf(task.taskId)
  if (!step && sent.length > 0 && !sent.some(isAck)) return untested('it did not accept the webhook of the task')
  if (!step) return broken('did neither accept nor reject the task', task)
  const { answer } = history.begin.patience
  const ms = step.realAt - task.realAt
  return ms <= answer ? holds : broken(`decided after ${ms} ms, and ${answer} was the limit`, task, step)
}

function revises(history: History): Finding {
  const { taskId, price } = taskOf(history, labels.first)
  const asked = history.stepsOf(taskId).find(({ trigger }) => trigger === 'request_revision')
  if (!asked) return noRevision(history, taskId)
  if (!isDelivered(history, taskId, 2)) return broken('did not deliver the revision', asked)
  const held = history.moneyOf(taskId).filter(({ move }) => move === 'hold')
  return held.length === 1 && held[0]!.amount === price ? holds : inconclusive('the price was not held once')
}

const noRevision = (history: History, taskId: string): Finding =>
  isDelivered(history, taskId)
    ? leftOut('the agent takes no revisions, as its listing or its author says')
    : untested('the agent did not deliver the task')

function revisionDiffers(history: History): Finding {
  const { taskId } = taskOf(history, labels.first)
  const [one, other] = deliverablesOf(history, taskId)
  if (!one || !other) return untested('the agent did not deliver the revision')
  const contentOf = ({ content, files }: DeliverableRecord) => `${content}\n${files.map(file => file.id)}`
  const [, step] = history.stepsOf(taskId).filter(({ trigger }) => trigger === 'deliver')
  return contentOf(one) === contentOf(other) ? broken('delivered the same once more', step!) : holds
}

function worksOnBoth(history: History): Finding {
  const [one, other] = history.tasks(labels.pair)
  if (!one || !other) return inconclusive('nothing was sent')
  const worked = [one, other].filter(({ taskId }) => isDelivered(history, taskId))
  if (worked.length === 2) return holds
  if (worked.length === 0 && !firstTaskHas(history, 'deliver')) return untested('the agent delivered nothing')
  const missed = worked[0] === one ? other : one
  return hasTaken(history, missed.taskId, 'reject')
    ? untested('the agent rejected one of them')
    : broken('did not deliver both', missed)
}

/** Each task made of a sample of this kind was decided in this way. */
function asDeclared(history: History, kind: 'accepts' | 'rejects', end: 'accept' | 'reject'): Finding {
  const tasks = history.of('task').filter(({ sample, label }) => sample === kind && label !== labels.cancelled)
  if (tasks.length === 0) return leftOut(`no sample is declared that it ${end}s`)
  const wrong = tasks.find(({ taskId }) => !hasTaken(history, taskId, end))
  return wrong ? broken(`did not ${end} a sample that it ${end}s, as declared`, wrong) : holds
}

function givesReasons(history: History): Finding {
  const rejected = history.of('task').filter(({ taskId }) => hasTaken(history, taskId, 'reject'))
  if (rejected.length === 0) return leftOut('the agent rejected nothing: declare a sample that it rejects')
  const bare = rejected.find(
    ({ taskId }) => !messagesOf(history, taskId).some(({ senderRole }) => senderRole === 'agent'),
  )
  return bare ? broken('rejected without a reason', bare) : holds
}

interface Shown {
  readonly event: Recordeds<'observation' | 'webhook'>
  readonly text: string
}

/** All that the agent has shown: to its buyer, and in answers to webhooks. */
function shownIn(history: History): Shown[] {
  const told = [labels.deliverables, labels.messages].flatMap(label =>
    history
      .observations(label)
      .flatMap(event =>
        (event.value as (DeliverableRecord | MessageRecord)[])
          .filter(item => !('senderRole' in item) || item.senderRole === 'agent')
          .map(item => ({ event, text: `${item.content}\n${'notes' in item ? item.notes : ''}` })),
      ),
  )
  const answers = history
    .of('webhook')
    .flatMap(event => (event.answer ? [{ event, text: event.answer.body.text ?? '' }] : []))
  return [...told, ...answers]
}

/** What the buyer has written may come back. */
function leaks(history: History, pattern: RegExp, what: string): Finding {
  const shown = shownIn(history)
  if (shown.length === 0) return untested('the agent has shown nothing')
  const leak = shown.find(({ text }) => text.search(pattern) >= 0)
  return leak ? broken(`sent ${what}`, leak.event) : holds
}

function sendsFiles(history: History): Finding {
  const count = history
    .of('task')
    .flatMap(({ taskId }) => deliverablesOf(history, taskId))
    .reduce((sum, { files }) => sum + files.length, 0)
  return count > 0 ? noted(`it sent ${count}`) : untested('the agent has sent no files')
}

export const judgesOfTasks: Readonly<Record<string, OutsideJudge>> = {
  'life.decides': { scenario: scenes.life, judge: decides },
  'life.accepts': { scenario: scenes.life },
  'life.delivers': { scenario: scenes.life },
  'life.revision': { scenario: scenes.life, judge: revises },
  'life.revision-differs': { scenario: scenes.life, after: ['life.revision'], judge: revisionDiffers },
  'life.sample-accepted': { scenario: scenes.life, judge: history => asDeclared(history, 'accepts', 'accept') },
  'life.sample-rejected': { scenario: scenes.rejection, judge: history => asDeclared(history, 'rejects', 'reject') },
  'life.reject-reason': { scenario: scenes.life, judge: givesReasons },
  'dup.not-by-content': { scenario: scenes.pair, judge: worksOnBoth },
  'safe.secret': { scenario: scenes.life, judge: history => leaks(history, SECRET, 'a secret or a key') },
  'safe.no-stack': {
    scenario: scenes.life,
    judge: history => leaks(history, STACK, 'a stack trace or paths of its files'),
  },
  'cb.files': { scenario: scenes.life, judge: sendsFiles },
}
