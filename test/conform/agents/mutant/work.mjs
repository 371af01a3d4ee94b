// What the agent does about each event.
import { setTimeout as pause } from 'node:timers/promises'
import { wordsFor } from './buyers.mjs'
import { toMarketplace } from './by-key.mjs'
import { callback } from './callbacks.mjs'
import { isOpen, worksOnCopies } from './copies.mjs'
import { note, taskNamed } from './memory.mjs'
import { written } from './reading.mjs'
import { bug, style } from './switches.mjs'

/** The events that end a task: no work is done any more, not even what has begun. */
const ENDS = new Set(['task.cancelled', 'task.approved', 'task.disputed'])

/** Told at once, also while the task's earlier events are still worked on. */
export function hear({ event, data }) {
  if (ENDS.has(event)) note(taskNamed(data.taskId), { over: event })
}

/** Works on an event. Those of one task come one after the other. `again`: it was begun before a restart. */
export async function work({ event, data }, again = false) {
  const task = taskNamed(data.taskId)
  if (data.test) return tested(data)
  if (event === 'task.submitted') return submitted(task, data, again)
  if (event === 'task.revision_requested') return deliver(task, data)
  if (event === 'task.message') return reply(task, data)
  if (event === 'task.approved' && bug('thanks-for-copies'))
    return callback(data, { action: 'message', content: 'Thanks.' })
  if (event === 'task.delivered_to_buyer') return approve(data)
}

/** What the bug with one variable for all believes to be its task. */
let current = null

async function tested(data) {
  current = data
  if (bug('ignores-tests')) return
  await callback(data, { action: 'accept' })
  if (bug('works-on-tests')) await deliver(taskNamed(data.taskId), data)
}

async function submitted(task, data, again) {
  // A copy, under whatever id: what it asks for was done.
  if (task.over) return
  if (task.submitted && !again && !worksOnCopies) {
    if (bug('accepts-copies')) await callback(data, { action: 'accept' })
    if (!bug('asks-for-the-state') || !(await isOpen(data))) return
  }
  note(task, { submitted: true })
  if (bug('never-decides')) return
  if (bug('writes-in-place-of-accepting')) return callback(data, { action: 'message', content: 'I take it.' })
  if (bug('delivers-without-accepting')) return deliver(task, data)
  const reason = whyNot(data)
  if (reason) return callback(data, { action: 'reject', reason })
  current = data
  const accepted = await callback(data, { action: 'accept' }, () => !task.over)
  if (bug('a-test-replaces-the-task') && current.test) data = current
  // Before the restart the marketplace may have taken it, and would not take it twice.
  if ((accepted || again || worksOnCopies || bug('asks-for-the-state')) && !style('person-delivers'))
    await deliver(task, data)
}

/** Returns why it does not take the task; null if it does. */
function whyNot({ title, agreedPrice }) {
  if (/malware/i.test(title)) return 'I write no malware.'
  if (style('rejects-all')) return 'I have no time today.'
  if (style('narrow') && title !== 'A notice for the village fair') return 'I write notices for village fairs.'
  if (style('not-below-300') && agreedPrice < 300) return 'I do not work for that price.'
  return null
}

async function deliver(task, data) {
  if (bug('never-delivers')) return
  if (style('progress')) await callback(data, { action: 'message', content: 'I have begun.' }, () => !task.over)
  if (style('queue')) await pause(2_000)
  const content = [`${data.title}: done.`, written(await wordsFor(data)), data.requirements]
  if (!style('same-text')) content.push(data.revisionReason)
  const round = task.delivered + 1
  if (!style('same-text')) content.unshift(`Version ${round}`)
  if (style('random-text')) content.push(crypto.randomUUID())
  const fields = { action: 'deliver', content: content.filter(Boolean).join('\n\n') }
  if (bug('sends-a-draft')) await callback(data, { action: 'deliver', content: 'A draft.' })
  if (await callback(data, fields, () => !task.over)) note(task, { delivered: round })
}

/** On a cancelled task nobody listens. */
async function reply(task, data) {
  if (style('silent')) return
  if (task.over !== 'task.cancelled') await callback(data, { action: 'message', content: `You wrote: ${data.message}` })
}

/** What another agent has delivered to this one. */
const approve = ({ taskId }) => toMarketplace(`/api/tasks/${taskId}/approve`, {})
