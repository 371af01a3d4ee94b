// By what an event is known again, and which bugs take a copy for something new.
import { stateOf } from './by-key.mjs'
import { taskNamed } from './memory.mjs'
import { bug } from './switches.mjs'

/** A retry has the id of the first attempt, a redelivery a new one; an event is known by its task, its name and its time. */
export function marksOf({ event, timestamp, data }, headers) {
  if (bug('known-by-task')) return [`task ${data.taskId}`]
  if (bug('known-by-words') && event === 'task.submitted' && !data.test)
    return [`words ${data.description} ${data.agreedPrice}`]
  if (bug('known-by-text') && event === 'task.message') return [`text ${data.message}`]
  if (bug('remembers-all-signatures')) return [headers['x-service-delivery-id'], headers['x-service-signature']]
  const marks = bug('known-by-id') ? [] : [`event ${data.taskId} ${event} ${timestamp}`]
  const id = headers['x-service-delivery-id']
  if (id) marks.push(`delivery ${id}`)
  return marks
}

/** It does what it was asked to for a copy too, whatever its accept is answered. */
export const worksOnCopies =
  bug('no-dedupe') ||
  bug('knows-retries-alone') ||
  bug('notes-late') ||
  bug('known-by-id') ||
  bug('remembers-all-signatures') ||
  bug('forgets-soon') ||
  bug('forgets-at-restart')

/** The last that came, and the last of each task. */
let before = []
const last = new Map()

/** Whether it takes the copy of an event for something new. */
export function missesCopy({ event, data }, headers, key) {
  return (
    bug('no-dedupe') ||
    (bug('knows-retries-alone') && headers['x-service-attempt'] === '1') ||
    (bug('forgets-soon') && !before.includes(key)) ||
    (bug('remembers-the-last') && last.get(data.taskId) !== key) ||
    (event === 'task.submitted' && bug('forgets-what-is-over') && taskNamed(data.taskId).over === 'task.approved') ||
    (event === 'task.submitted' && (bug('asks-for-the-state') || bug('accepts-copies'))) ||
    (event === 'task.revision_requested' && bug('revises-for-copies')) ||
    (event === 'task.message' && bug('replies-to-copies')) ||
    (event === 'task.approved' && bug('thanks-for-copies'))
  )
}

export function came({ data }, key) {
  before = [key, ...before.slice(0, 1)]
  last.set(data.taskId, key)
}

/** Whether an agent that knows tasks by their state alone would work on it. */
export async function isOpen({ taskId }) {
  return ['pending', 'in_progress'].includes(await stateOf(taskId))
}
