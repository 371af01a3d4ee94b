/** The first task shows how far the agent comes with the sample: others with the same words should come as far. */
import type { History } from '../history/history.ts'

export const hasTaken = (history: History, taskId: string, ...triggers: readonly string[]): boolean =>
  history.stepsOf(taskId).some(({ trigger }) => triggers.includes(trigger))

/** Whether the first task came so far. */
export const firstTaskHas = (history: History, ...triggers: readonly string[]): boolean =>
  history.tasks('first-task').some(({ taskId }) => hasTaken(history, taskId, ...triggers))
