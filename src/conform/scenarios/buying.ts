/** What buyers do about a task that was delivered. They have read it before: meanwhile an agent that sends everything twice has done so. */
import type { Stage, StageTask } from './scenario.ts'

const READING_MS = 150

export async function revise(stage: Stage, { id, buyer }: StageTask, reason: string): Promise<void> {
  await stage.pause(READING_MS)
  await buyer.act('requestRevision', { id, reason })
}

export async function approve(stage: Stage, { id, buyer }: StageTask): Promise<void> {
  await stage.pause(READING_MS)
  await buyer.act('approveTask', { id })
}

export async function dispute(stage: Stage, { id, buyer }: StageTask): Promise<void> {
  await stage.pause(READING_MS)
  await buyer.act('disputeTask', { id, reason: 'This is not what was agreed.' })
}

/** Writes to the agent, and waits until it has heard it. `count`: the how many-th message this is. */
export async function say(stage: Stage, task: StageTask, content: string, count = 1): Promise<void> {
  await task.buyer.act('sendMessage', { id: task.id, content })
  await stage.answered(task, 'task.message', count)
}

/** Callbacks about the task with this action, however they were answered. */
export const heard = ({ history }: Stage, { id }: StageTask, action: string): number =>
  history.callbacksOf(id).filter(callback => callback.action === action).length
