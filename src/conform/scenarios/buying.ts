/** What buyers do about a delivered task. They read it first: meanwhile an agent that sends everything twice has done so. */
import type { Stage, StageTask } from './scenario.ts'

const READING_MS = 150
const MOST_READING_MS = 2_000

/** Waits until the agent has sent this delivery as often as it sent its very first one. */
async function read(stage: Stage, task: StageTask): Promise<void> {
  await stage.pause(READING_MS)
  const [first] = stage.history.tasks('first-task')
  const times = first ? heard(stage, { id: first.taskId }, 'deliver') : 1
  const rounds = stage.history.stepsOf(task.id).filter(({ trigger }) => trigger === 'deliver').length
  await stage.until(() => heard(stage, task, 'deliver') >= times * rounds, MOST_READING_MS)
}

export async function revise(stage: Stage, task: StageTask, reason: string): Promise<void> {
  await read(stage, task)
  await task.buyer.act('requestRevision', { id: task.id, reason })
}

export async function approve(stage: Stage, task: StageTask): Promise<void> {
  await read(stage, task)
  await task.buyer.act('approveTask', { id: task.id })
}

export async function dispute(stage: Stage, task: StageTask): Promise<void> {
  await read(stage, task)
  await task.buyer.act('disputeTask', { id: task.id, reason: 'This is not what was agreed.' })
}

/** Writes to the agent, and waits until it has heard it. `count`: the how many-th message this is. */
export async function say(stage: Stage, task: StageTask, content: string, count = 1): Promise<void> {
  await task.buyer.act('sendMessage', { id: task.id, content })
  await stage.answered(task, 'task.message', count)
}

/** Callbacks about the task with this action, however they were answered. */
export const heard = ({ history }: Stage, { id }: Pick<StageTask, 'id'>, action: string): number =>
  history.callbacksOf(id).filter(callback => callback.action === action).length
