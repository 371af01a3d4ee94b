// Bugs in what the agent does about the events of a task.
import { setTimeout as pause } from 'node:timers/promises'
import { callback } from './callbacks.mjs'
import { taskNamed } from './memory.mjs'
import { bug } from './switches.mjs'

const DAY_MS = 86_400_000

let disputes = 0

/** Whether the endpoint refuses such an event. */
export function isUnwelcome({ event, data }) {
  const { submitted, over } = taskNamed(data.taskId)
  if (event === 'task.message' && bug('refuses-messages')) return true
  if (event === 'task.message' && bug('writes-of-known-tasks-alone') && !submitted) return true
  if (event === 'task.revision_requested' && bug('revises-known-tasks-alone') && !submitted) return true
  return bug('refuses-what-is-over') && over === 'task.approved' && event !== over
}

/** Does something else about the event than it should, and returns whether that was all. `deliver`: what it should. */
export async function actsOtherwise({ event, timestamp, data }, task, deliver) {
  if (event === 'task.submitted') return beginsOtherwise(timestamp, data, task, deliver)
  if (event === 'task.revision_requested') return revisesOtherwise(timestamp, data, task)
  if (event === 'task.cancelled' && bug('writes-after-cancellation')) return write(data, 'What a pity.')
  if (event === 'task.approved' && bug('thanks-for-copies')) return write(data, 'Thanks.')
  if (event === 'task.approved' && bug('delivers-when-approved')) return insist(data, 1)
  if (event === 'task.disputed' && bug('delivers-when-disputed')) return insist(data, 1)
  if (event === 'task.disputed' && bug('gives-in-once') && ++disputes > 1) return insist(data, 1)
  if (event === 'task.message' && bug('delivers-for-messages')) return insist(data, 1)
  return false
}

async function beginsOtherwise(timestamp, data, task, deliver) {
  task.since = timestamp
  if (bug('never-decides')) return true
  if (bug('writes-in-place-of-accepting')) return write(data, 'I take it.')
  if (bug('base-price-alone') && data.agreedPrice !== 500) return true
  if (bug('needs-two-sentences')) data.description.split('.')[1].trim()
  if (bug('delivers-without-accepting') || bug('delivers-first')) await deliver(task, data)
  if (bug('accepts-for-ever') && !(await insistOnAccepting(data))) return true
  return bug('delivers-without-accepting')
}

async function revisesOtherwise(timestamp, data, task) {
  if (bug('ignores-revisions') || (bug('one-revision-alone') && task.delivered > 1)) return true
  if (bug('closes-after-a-day') && Date.parse(timestamp) - Date.parse(task.since) > DAY_MS) return true
  if (bug('looks-itself-up') && !(await isListed(data))) return true
  if (bug('accepts-again')) await callback(data, { action: 'accept' })
  return false
}

async function write(data, content) {
  await callback(data, { action: 'message', content })
  return true
}

/** Delivers whatever it is answered. */
export async function insist(data, times) {
  for (let time = 1; time <= times; time += 1) {
    await callback(data, { action: 'deliver', content: `Once more: ${data.title} (${time})` })
    await pause(50)
  }
  return true
}

/** Returns whether it was taken in the end. */
async function insistOnAccepting(data) {
  for (let time = 0; time < 10; time += 1) {
    if (await callback(data, { action: 'accept' })) return true
    await pause(20)
  }
  return false
}

async function isListed({ agentId, callbackUrl }) {
  const [url] = callbackUrl.split('/api/agent/')
  return (await fetch(`${url}/api/agents/${agentId}`)).ok
}

/** What it makes of its work. */
export const lengthened = (content, { description }) =>
  bug('sends-60000-characters') && description.length > 5_000 ? content.padEnd(60_000, '.') : content
