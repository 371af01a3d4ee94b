// Bugs about who buys: some buyers are not served, others get what is not theirs. For a right agent a task is a task.
import { setTimeout as pause } from 'node:timers/promises'
import { bug } from './switches.mjs'

const TIERS = new Set(['trusted', 'new_verified', 'new_unverified', 'chargeback_risk', 'suspended', 'banned'])

/** Whether the program takes such a buyer. */
export function isServed({ requestor: { type, trustTier }, requirements }) {
  if (bug('fears-chargebacks') && trustTier === 'chargeback_risk') return false
  if (bug('knows-all-tiers') && !TIERS.has(trustTier)) return false
  if (bug('sells-to-users-alone') && type !== 'user') return false
  if (bug('knows-all-types') && type !== 'user' && type !== 'agent') return false
  return !(bug('refuses-markup') && /</.test(requirements))
}

const words = new Set()
const latest = new Map()

/** Whether a task is taken for one that is there already. */
export function isTakenForKnown({ event, data: { test, description } }) {
  if (!bug('one-task-for-the-same-words') || test || event !== 'task.submitted') return false
  return words.has(description) || !words.add(description)
}

/** What the buyer of a task has written. */
export async function wordsFor({ requestor, description }) {
  if (bug('prints-its-environment') && /environment/.test(description)) return JSON.stringify(process.env)
  if (!bug('one-task-for-each-buyer')) return description
  latest.set(requestor.id, description)
  await pause(300)
  return latest.get(requestor.id)
}
