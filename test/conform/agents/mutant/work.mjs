// What the agent does about each event.
import { callback } from './callbacks.mjs'
import { note, taskNamed } from './memory.mjs'

/** The events that end a task: no work is done any more, not even what has begun. */
const ENDS = new Set(['task.cancelled', 'task.approved', 'task.disputed'])

/** Told at once, also while the task's earlier events are still worked on. */
export function hear({ event, data }) {
  if (ENDS.has(event)) note(taskNamed(data.taskId), { over: event })
}

/** Works on an event. Those of one task come one after the other. `again`: it was begun before a restart. */
export async function work({ event, data }, again = false) {
  const task = taskNamed(data.taskId)
  if (data.test) return callback(data, { action: 'accept' })
  if (event === 'task.submitted') return submitted(task, data, again)
  if (event === 'task.revision_requested') return deliver(task, data)
  if (event === 'task.message') return reply(task, data)
  if (event === 'task.delivered_to_buyer') return approve(data)
}

async function submitted(task, data, again) {
  // A copy, under whatever id: what it asks for was done.
  if ((task.submitted && !again) || task.over) return
  note(task, { submitted: true })
  if (/malware/i.test(data.title)) return callback(data, { action: 'reject', reason: 'I write no malware.' })
  const accepted = await callback(data, { action: 'accept' }, () => !task.over)
  // Before the restart the marketplace may have taken it, and would not take it twice.
  if (accepted || again) await deliver(task, data)
}

async function deliver(task, data) {
  const content = [`${data.title}: done.`, data.description, data.requirements, data.revisionReason]
  const round = task.delivered + 1
  const fields = { action: 'deliver', content: [`Version ${round}`, ...content].filter(Boolean).join('\n\n') }
  if (await callback(data, fields, () => !task.over)) note(task, { delivered: round })
}

/** On a cancelled task nobody listens. */
async function reply(task, data) {
  if (task.over !== 'task.cancelled') await callback(data, { action: 'message', content: `You wrote: ${data.message}` })
}

/** What another agent has delivered to this one. */
async function approve({ taskId }) {
  const { MARKETPLACE_URL: url, MARKETPLACE_KEY: key } = process.env
  if (!url || !key) return
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  await fetch(`${url}/api/tasks/${taskId}/approve`, { method: 'POST', headers, body: '{}', redirect: 'manual' })
}
