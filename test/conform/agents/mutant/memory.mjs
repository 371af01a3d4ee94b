// What the agent remembers, also over a restart: each change is a line of JSON at the end of a file.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { bug } from './switches.mjs'

const file = process.env.MUTANT_STATE
const tasks = new Map()
const marks = new Set()
const unfinished = new Map()

/** What is known of a task. `over`: the event that has ended it. */
export function taskNamed(id) {
  if (!tasks.has(id)) tasks.set(id, { id, submitted: false, delivered: 0, over: null })
  return tasks.get(id)
}

function keep(change) {
  apply(change)
  if (file) appendFileSync(file, `${JSON.stringify(change)}\n`)
}

function apply({ task, seen = [], begun, ended }) {
  if (task) Object.assign(taskNamed(task.id), task)
  for (const mark of seen) marks.add(mark)
  if (begun) unfinished.set(begun.key, begun)
  if (ended) unfinished.delete(ended)
}

/** Notes what has become of a task. */
export const note = (task, change) => keep({ task: { id: task.id, ...change } })

export const isKnown = ofEvent => ofEvent.some(mark => marks.has(mark))
export const remember = (ofEvent, begun) => keep({ seen: ofEvent, begun })
export const finish = key => keep({ ended: key })

/** What was begun of a task and not ended. */
export const unfinishedOf = taskId => [...unfinished.values()].find(({ event }) => event.data.taskId === taskId)

/** The events that were begun before a restart and not ended. */
export function unfinishedEvents() {
  if (file && existsSync(file) && !bug('forgets-at-restart')) {
    // The last line may have been cut off in the midst.
    for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) apply(JSON.parse(line))
  }
  return [...unfinished.values()]
}
