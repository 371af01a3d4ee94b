/** Events in an unexpected order, or during the agent's work. */
import { limits } from '../../api/limits.ts'
import { answeredWhen, onItsWayUntil } from '../../sim/callbacks/faults.ts'
import { overtaken, withheld } from '../marketplaces/webhook-faults.ts'
import { approve, heard, revise, say } from './buying.ts'
import { latch } from './latch.ts'
import type { Scenario, Stage } from './scenario.ts'

const AT_MOST_MS = 1_500
const TASKS = 5
const REASON = 'Please say it in other words.'

const messages: Scenario = {
  name: 'messages',
  lane: 'real',
  needs: ['delivered'],
  async run(stage) {
    await throughLife(stage)
    await messageFirst(stage)
    await longestMessage(stage)
  },
}

/** A message in each state of a task. What would end a state is on its way meanwhile. */
async function throughLife(stage: Stage): Promise<void> {
  const inWork = { accept: latch(), deliver: latch() }
  const sent = new Set<string>()
  const fault = (action: 'accept' | 'deliver') => onItsWayUntil(inWork[action].opened, () => sent.add(action))
  const callbackFaults = { accept: fault('accept'), deliver: fault('deliver') }
  const task = await stage.task('life.message', { callbackFaults })
  let count = 0
  for (const action of ['accept', 'deliver'] as const) {
    await stage.until(() => sent.has(action), stage.patience.limit('work'))
    // Some answer the webhook before only when their callback was answered, so nobody waits for them here.
    await task.buyer.act('sendMessage', { id: task.id, content: `Shall I tell you more? (${++count})` })
    const told = () => stage.history.webhooksOf(task.id).filter(({ event }) => event === 'task.message')
    await stage.until(() => told().length >= count, AT_MOST_MS)
    inWork[action].open()
  }
  if (!(await stage.delivered(task))) return
  await say(stage, task, `I have it. Thank you! (${++count})`, count)
  await approve(stage, task)
  await say(stage, task, `I have paid. Was that all? (${++count})`, count)
}

async function messageFirst(stage: Stage): Promise<void> {
  const { opened, open } = latch()
  const task = await stage.task('order.message-first', { fault: overtaken(opened) })
  await say(stage, task, 'I forgot to say that there is no hurry.')
  open()
  await stage.delivered(task)
}

/** Who writes back what was written has to be brief. */
async function longestMessage(stage: Stage): Promise<void> {
  const task = await stage.task('life.message-length')
  if (!(await stage.delivered(task))) return
  const [, most] = limits.message
  await say(stage, task, 'Is it true, and why? '.repeat(most).slice(0, most))
  const repliesAtAll = stage.history.of('callback').some(({ action }) => action === 'message')
  if (repliesAtAll) await stage.until(() => heard(stage, task, 'message') > 0, stage.patience.limit('answer'))
}

const disorder: Scenario = {
  name: 'disorder',
  lane: 'real',
  needs: ['delivered'],
  async run(stage) {
    await unknownTask(stage)
    await disputedInWork(stage)
    await interleaved(stage)
  },
}

/** Its builder has done the first work by hand. */
async function unknownTask(stage: Stage): Promise<void> {
  const task = await stage.task('order.unknown-task', { fault: withheld })
  const { id } = task
  await stage.lane.builder('acceptTask', { id })
  await stage.lane.builder('deliverTask', { id, content: 'Done by hand.' })
  if (stage.declared.revisions) await revise(stage, task, REASON)
  else await approve(stage, task)
  await stage.answered(task, stage.declared.revisions ? 'task.revision_requested' : 'task.approved')
  await stage.answered(await stage.task('order.unknown-task/next', { decisionIsAll: true }), 'task.submitted')
}

/** The agent learns that it may work when the buyer has disputed the task already. */
async function disputedInWork(stage: Stage): Promise<void> {
  const { opened, open } = latch()
  const accept = answeredWhen(opened)
  const task = await stage.task('order.dispute-in-work', { callbackFaults: { accept } })
  try {
    if (!(await stage.accepted(task))) return
    await task.buyer.act('disputeTask', { id: task.id, reason: 'I have found somebody else.' })
    const isTold = () => stage.history.webhooksOf(task.id).some(({ event }) => event === 'task.disputed')
    await stage.until(isTold, AT_MOST_MS)
  } finally {
    open()
  }
  await stage.answered(task, 'task.disputed')
}

async function interleaved(stage: Stage): Promise<void> {
  const tasks = await Promise.all(Array.from({ length: TASKS }, () => stage.task('order.interleaved')))
  const delivered = await Promise.all(tasks.map(task => stage.delivered(task)))
  if (!stage.declared.revisions || delivered.includes(false)) return
  const revised = stage.isSlow ? tasks.slice(0, 2) : tasks
  await Promise.all(revised.map(task => revise(stage, task, REASON)))
  await Promise.all(revised.map(task => stage.delivered(task, 2)))
}

export const disorderScenarios: readonly Scenario[] = [messages, disorder]
