/** Copies of what comes after the submission: revisions, messages, and the events that end a task. */
import { answerLost, heldUntil, withheld } from '../marketplaces/webhook-faults.ts'
import { approve, dispute, heard, revise, say } from './buying.ts'
import { latch } from './latch.ts'
import type { Scenario, Stage, StageTask } from './scenario.ts'

const REVISION = 'task.revision_requested'
/** An agent that takes a copy for new work has begun to deliver by then. */
const MOMENT_MS = 300
const READ_MS = 60
const howFar = ({ canary }: StageTask) => `Could you tell me in a word or two whether all is well with ${canary}?`
const reason = (round: number) => `Please say it in other words, for the ${['first', 'second'][round - 1]} time.`

const copiesOfRevisions: Scenario = {
  name: 'copies of revisions',
  lane: 'real',
  needs: ['delivered', 'revisions'],
  async run(stage) {
    const copied = await stage.task('dup.revision')
    if (await stage.delivered(copied)) {
      stage.fault(copied, REVISION, answerLost)
      await revise(stage, copied, reason(1))
      await stage.delivered(copied, 2)
    }
    await oldSubmission(stage)
    await oldRevision(stage)
    const task = await stage.task('dup.not-by-task')
    if (await stage.delivered(task)) {
      await revise(stage, task, reason(1))
      await stage.delivered(task, 2)
    }
    if (stage.history.stepsOf(copied.id).length > 2) await stage.answered(copied, REVISION, 2)
  },
}

async function oldSubmission(stage: Stage): Promise<void> {
  const task = await stage.task('dup.submitted-in-revision')
  if (!(await stage.delivered(task))) return
  await askWhileCopyComes(stage, task, 1, 'task.submitted')
}

async function oldRevision(stage: Stage): Promise<void> {
  const task = await stage.task('dup.old-revision')
  if (!(await stage.delivered(task))) return
  await revise(stage, task, reason(1))
  if (!(await stage.delivered(task, 2))) return
  // Who remembers the last event alone has forgotten the first revision by then.
  await say(stage, task, howFar(task))
  await askWhileCopyComes(stage, task, 2, REVISION)
}

/** Asks for a revision, and sends an old event of the task before the agent hears of it. */
async function askWhileCopyComes(stage: Stage, task: StageTask, round: number, event: string): Promise<void> {
  const { opened, open } = latch()
  stage.fault(task, REVISION, heldUntil(opened))
  try {
    await revise(stage, task, reason(round))
    const before = heard(stage, task, 'deliver')
    await stage.resend(task, event)
    await stage.until(() => heard(stage, task, 'deliver') > before, MOMENT_MS)
  } finally {
    open()
  }
  await stage.answered(task, REVISION, event === REVISION ? round + 1 : round)
  await stage.delivered(task, round + 1)
}

const laterCopies: Scenario = {
  name: 'copies of later events',
  lane: 'real',
  needs: ['delivered'],
  async run(stage) {
    const ends = [await cancelledTwice(stage), await approvedTwice(stage), await disputedTwice(stage)]
    const plain = await stage.task('dup.message/plain')
    if (await stage.delivered(plain)) await say(stage, plain, howFar(plain))
    const copied = await stage.task('dup.message/copied')
    const isCopied = await stage.delivered(copied)
    if (isCopied) {
      stage.fault(copied, 'task.message', answerLost)
      await say(stage, copied, howFar(copied))
    }
    await sameMessageTwice(stage, heard(stage, plain, 'message') > 0)
    for (const [task, event] of ends.filter(end => end !== null)) await stage.answered(task, event, 2)
    if (isCopied) await stage.answered(copied, 'task.message', 2)
  },
}

type End = readonly [task: StageTask, event: string]

/** The agent hears of the task for the first time, or it would not be there to be cancelled any more. */
async function cancelledTwice(stage: Stage): Promise<End> {
  const task = await stage.task('dup.ends/cancelled', { fault: withheld })
  stage.fault(task, 'task.cancelled', answerLost)
  await task.buyer.act('cancelTask', { id: task.id })
  return [task, 'task.cancelled']
}

async function approvedTwice(stage: Stage): Promise<End | null> {
  const task = await stage.task('dup.ends/approved')
  if (!(await stage.delivered(task))) return null
  stage.fault(task, 'task.approved', answerLost)
  await approve(stage, task)
  return [task, 'task.approved']
}

async function disputedTwice(stage: Stage): Promise<End | null> {
  const task = await stage.task('dup.ends/disputed')
  if (!(await stage.delivered(task))) return null
  stage.fault(task, 'task.disputed', answerLost)
  await dispute(stage, task)
  return [task, 'task.disputed']
}

/** The second comes when the first was replied to: who hears both before they reply may reply to both at once. */
async function sameMessageTwice(stage: Stage, doesReply: boolean): Promise<void> {
  const task = await stage.task('dup.not-by-text')
  if (!(await stage.delivered(task))) return
  for (const count of [1, 2]) {
    await say(stage, task, howFar(task), count)
    if (!doesReply) continue
    await stage.until(() => heard(stage, task, 'message') >= count, stage.patience.limit('answer'))
    // So that its reply is surely older than the next message.
    await stage.pause(READ_MS)
  }
}

export const laterCopyScenarios: readonly Scenario[] = [copiesOfRevisions, laterCopies]
