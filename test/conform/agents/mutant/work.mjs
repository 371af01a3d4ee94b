// What the agent does about each event.
import { setTimeout as pause } from 'node:timers/promises'
import { wordsFor } from './buyers.mjs'
import { approve, order } from './buying.mjs'
import { callback } from './callbacks.mjs'
import { isOpen, worksOnCopies } from './copies.mjs'
import { actsOtherwise, insist, lengthened } from './lives.mjs'
import { note, taskNamed } from './memory.mjs'
import { tellAnotherHost } from './mishaps.mjs'
import { written } from './reading.mjs'
import { bug, style } from './switches.mjs'

/** The events that end a task: no work is done any more, not even what has begun. */
const ENDS = new Set(['task.cancelled', 'task.approved', 'task.disputed'])

const LONGEST_MESSAGE = bug('writes-at-length') ? 6_000 : 5_000

const worksOnOver = bug('works-on-what-is-over') || bug('forgets-what-is-over')

/** Told at once, also while the task's earlier events are still worked on. */
export function hear({ event, data }) {
  if (ENDS.has(event)) note(taskNamed(data.taskId), { over: event })
}

/** Works on an event. Those of one task come one after the other. `again`: it was begun before a restart. */
export async function work({ event, timestamp, data }, again = false) {
  const task = taskNamed(data.taskId)
  if (data.test) return tested(data)
  if (await actsOtherwise({ event, timestamp, data }, task, deliver)) return
  if (event === 'task.submitted') return submitted(task, data, again)
  if (event === 'task.revision_requested') return deliver(task, data)
  if (event === 'task.message') return reply(task, data)
  if (event === 'task.delivered_to_buyer') return bug('works-on-orders') ? deliver(task, data) : approve(data)
}

/** What the bug with one variable for all believes to be its task. */
let current = null
/** The last one. */
let test = null

async function tested(data) {
  current = test = data
  if (bug('ignores-tests')) return
  await callback(data, { action: 'accept' })
  if (bug('works-on-tests')) await deliver(taskNamed(data.taskId), data)
}

async function submitted(task, data, again) {
  // A copy, under whatever id: what it asks for was done.
  const wasOver = task.over !== null
  if (wasOver && !worksOnOver) return
  if (task.submitted && !wasOver && !again && !worksOnCopies) {
    if (bug('accepts-copies')) await callback(data, { action: 'accept' })
    if (!bug('asks-for-the-state') || !(await isOpen(data))) return
  }
  note(task, { submitted: true })
  const reason = whyNot(data)
  if (reason) return reject(task, data, reason)
  current = data
  const before = test
  const accepted = bug('accepts-for-ever') || (await callback(data, { action: 'accept' }, () => !task.over || wasOver))
  for (let times = bug('accepts-in-a-loop') ? 30 : 0; times > 0; times -= 1) await callback(data, { action: 'accept' })
  if (bug('a-test-replaces-the-task') && test !== before) data = test
  // Before the restart the marketplace may have taken it, and would not take it twice.
  if (bug('one-task-for-all')) data = await theLast()
  const goesOn = again || wasOver || worksOnCopies || bug('asks-for-the-state') || bug('works-although-refused')
  if ((accepted || goesOn) && !style('person-delivers')) await deliver(task, data)
}

async function theLast() {
  await pause(30)
  return current
}

async function reject(task, data, reason) {
  await callback(data, bug('rejects-without-reason') ? { action: 'reject' } : { action: 'reject', reason })
  if (bug('delivers-after-rejecting')) await deliver(task, data)
}

/** How often each title came. */
const asked = new Map()

/** Returns why it does not take the task; null if it does. */
function whyNot({ title, agreedPrice }) {
  asked.set(title, (asked.get(title) ?? 0) + 1)
  if (bug('tires-of-a-title') && asked.get(title) > 2) return 'I am tired of these.'
  if (bug('accepts-everything')) return null
  if (/malware/i.test(title)) return 'I write no malware.'
  if (style('rejects-all')) return 'I have no time today.'
  if (style('narrow') && title !== 'A notice for the village fair') return 'I write notices for village fairs.'
  if (style('not-below-300') && agreedPrice < 300) return 'I do not work for that price.'
  return null
}

async function deliver(task, data) {
  if (bug('never-delivers')) return
  if (bug('delivers-in-dispute')) {
    await pause(100)
    if (task.over === 'task.disputed') return insist(data, 6)
  }
  if (style('buys')) await order(data)
  if (bug('tells-another-host')) await tellAnotherHost(data)
  if (style('progress')) await callback(data, { action: 'message', content: 'I have begun.' }, () => !task.over)
  if (style('queue')) await pause(2_000)
  if (style('works-slowly')) await pause(1_200)
  const content = [`${data.title}: done.`, written(await wordsFor(data)), data.requirements]
  if (bug('sends-its-secret')) content.push(`Made with ${process.env.MARKETPLACE_WEBHOOK_SECRET}`)
  const isSame = style('same-text') || bug('same-words-again')
  if (!isSame) content.push(bug('first-reason-alone') ? firstReasonOf(data) : data.revisionReason)
  const round = task.delivered + 1
  if (!isSame) content.unshift(`Version ${round}`)
  if (style('random-text')) content.push(crypto.randomUUID())
  const fields = { action: 'deliver', content: lengthened(content.filter(Boolean).join('\n\n'), data) }
  if (bug('sends-a-draft')) await callback(data, { action: 'deliver', content: 'A draft.' })
  const isWanted = () => !task.over || bug('works-although-refused') || worksOnOver
  if (await callback(data, fields, isWanted)) note(task, { delivered: round })
  if (bug('delivers-all-twice')) await callback(data, { ...fields, notes: '' })
}

const firstReasons = new Map()

function firstReasonOf({ taskId, revisionReason }) {
  if (revisionReason && !firstReasons.has(taskId)) firstReasons.set(taskId, revisionReason)
  return firstReasons.get(taskId)
}

/** On a cancelled task nobody listens. */
async function reply(task, data) {
  if (style('silent')) return
  if (task.over !== 'task.cancelled')
    await callback(data, { action: 'message', content: `You wrote: ${data.message}`.slice(0, LONGEST_MESSAGE) })
}
