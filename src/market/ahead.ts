/**
 * What a request about one task is sure to ask for, asked before it is known who asks: on a server that saves a round
 * trip. Whoever may not see it gets none of it.
 */
import type { Reader } from '../store/db.ts'
import { type TaskRow, taskById } from '../store/tasks.ts'

interface Asked {
  id: string
  task: Promise<TaskRow | undefined>
}

const asked = new WeakMap<Reader, Asked>()

/** Asks for the task, as `q` sees it now. */
export function askAhead(q: Reader, id: string): void {
  const task = taskById(q, id)
  task.catch(() => {}) // whoever takes it is told
  asked.set(q, { id, task })
}

/** The task that was asked for; undefined if none was, or another, or it is taken. */
export function askedAhead(q: Reader, id: string): Asked['task'] | undefined {
  const known = asked.get(q)
  if (known?.id !== id) return undefined
  asked.delete(q)
  return known.task
}
