/**
 * What a request about one task is sure to ask for, asked before it is known who asks: on a server that saves round
 * trips. Whoever may not see it gets none of it.
 */
import type { Endpoint } from '../../api/endpoint.ts'
import type { Db, Reader, Tx } from '../../store/db.ts'
import { heldStanding, type StandingRow } from '../../store/tables/agent-terms.ts'
import { type TaskRow, taskById, wholeTask } from '../../store/tables/tasks.ts'

/** Of each part who first asks for it takes it: later it may not be so any more. */
interface Asked {
  id: string
  /** A lock on the task went before. */
  held: boolean
  task?: Promise<TaskRow | undefined>
  agent?: Promise<StandingRow | undefined>
}

const asked = new WeakMap<Reader, Asked>()

/** Whether a request of this record is done with what was asked ahead, so that it needs no state of its own. */
export const isGlance = (record: Endpoint, db: Db) => db.shared && record.method === 'GET' && record.path === TASK

const TASK = '/api/tasks/:id'

/** What to call with the task's id before the rest of the request is looked at; null where nothing would be gained. */
export function aheadOf(record: Endpoint, db: Db): ((q: Reader, id: string) => void) | null {
  if (!db.shared || !record.path.startsWith(TASK)) return null
  if (isGlance(record, db)) return (q, id) => void asked.set(q, { id, held: false, task: kept(wholeTask(q, id)) })
  if (record.unit === 'read') return (q, id) => void asked.set(q, { id, held: false, task: kept(taskById(q, id)) })
  if (record.unit !== 'write') return null
  const withAgent = record.path.endsWith('/submit')
  return (q, id) => {
    const tx = q as Tx
    kept(tx.lock('tasks', id))
    const task = kept(taskById(tx, id))
    asked.set(q, { id, held: true, task, ...(withAgent && { agent: kept(heldStanding(tx, id)) }) })
  }
}

/** Whoever takes it is told how it failed. */
function kept<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {})
  return answer
}

/** The task that was asked for, and held if it is to be; undefined if none was, or another, or it is taken. */
export function askedTask(q: Reader, id: string, held: boolean): Asked['task'] {
  const known = asked.get(q)
  if (known?.id !== id || (held && !known.held)) return undefined
  const { task } = known
  delete known.task
  return task
}

/** The same of the agent of that task. */
export function askedAgent(q: Reader, taskId: string): Asked['agent'] {
  const known = asked.get(q)
  if (known?.id !== taskId) return undefined
  const { agent } = known
  delete known.agent
  return agent
}
