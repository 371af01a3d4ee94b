/** The form of callbacks. All of a run are judged, as no fault excuses a wrong one. */

import type { History, Recordeds } from '../history/history.ts'
import { broken, type Check, type Finding, holds, noted, untested } from '../judging/check.ts'
import { bodyIn, headerOf, signedCallbacks, startedAt } from './evidence.ts'

type Callback = Recordeds<'callback'>

/** `wrong`: says what is wrong with one, as the end of “the agent …”. */
function each(callbacks: readonly Callback[], wrong: (callback: Callback) => string | null): Finding {
  if (callbacks.length === 0) return untested('the agent has sent no signed callback')
  const bad = callbacks.filter(callback => wrong(callback) !== null)
  if (bad.length === 0) return holds
  const rest = bad.length > 1 ? ` (${bad.length} of ${callbacks.length} callbacks)` : ''
  return broken(wrong(bad[0]!)! + rest, ...bad.slice(0, 3))
}

const shown = (value: string | undefined) => (value === undefined ? 'nothing' : `“${value.slice(0, 80)}”`)

const THIRTEEN = {
  source: 'I-timestamp',
  quote: '`X-Service-Timestamp` is Unix time in milliseconds, thirteen digits.',
}
const SIGNED = {
  source: 'I-signature',
  quote:
    'HMAC-SHA256, keyed with the webhook secret, over the timestamp header, a dot, and the body byte for byte; lower-case hex in `X-Service-Signature`. Both directions use the same secret.',
}
const JSON_WITH_ACTION = {
  source: 'I-callback',
  quote:
    'of type `application/json`: JSON with an `action`: `accept`, `reject`, `deliver` (with `content`, maybe `notes`) or `message`',
}
const SKEW_MS = 60_000
/** Less is not worth a word. */
const NOTED_SKEW_MS = 2_000

function clockOf(history: History): Finding {
  const skews = signedCallbacks(history).map(callback => {
    const timestamp = Number(headerOf(callback, 'X-Service-Timestamp'))
    return { callback, ms: timestamp - startedAt(callback) }
  })
  // The same bytes may be sent again later: the newest of each signature's times is that of its first attempt.
  const first = new Map<string, (typeof skews)[number]>()
  for (const skew of skews) {
    const signature = headerOf(skew.callback, 'X-Service-Signature') ?? ''
    if (!first.has(signature)) first.set(signature, skew)
  }
  // One that was on its way for long, or was sent again, looks like a clock that is behind; none looks like one that is ahead.
  const nearest = [...first.values()].sort((a, b) => b.ms - a.ms)[0]
  if (!nearest) return untested('the agent has sent no signed callback')
  const inWords = `${Math.round(Math.abs(nearest.ms) / 1000)} seconds ${nearest.ms < 0 ? 'behind' : 'ahead'}`
  if (Math.abs(nearest.ms) > SKEW_MS) return broken(`has a clock that is ${inWords}`, nearest.callback)
  return Math.abs(nearest.ms) > NOTED_SKEW_MS ? noted(`its clock is ${inWords}`) : holds
}

function sharedSignature(history: History): Finding {
  const owners = new Map<string, Callback>()
  const signed = signedCallbacks(history)
  for (const callback of signed) {
    const signature = headerOf(callback, 'X-Service-Signature') ?? ''
    const other = owners.get(signature)
    if (other && other.taskId !== callback.taskId)
      return broken('sent callbacks about two tasks with one signature', other, callback)
    owners.set(signature, callback)
  }
  return signed.length > 1 ? holds : untested('the agent has not sent two signed callbacks')
}

export const cbForm: readonly Check[] = [
  {
    id: 'cb.signature',
    title: 'signs each callback over the bytes that it sends',
    level: 'must',
    law: SIGNED,
    why: 'The marketplace refuses the callback with 401, and the buyer never sees the work.',
    fix: 'Make the text of the body once, sign that text, and send the very same bytes. Sign with the whole whsec_… string.',
    scenario: 'first contact',
    after: ['cb.time-form', 'cb.digest-form'],
    judge: history =>
      each(
        signedCallbacks(history).filter(({ taskId }) => !taskId.startsWith('test_')),
        ({ signature }) => (signature === 'valid' ? null : `sent a callback that does not verify: ${signature}`),
      ),
  },
  {
    id: 'cb.time-form',
    title: 'writes the time of callbacks in 13 digits of milliseconds',
    level: 'must',
    law: THIRTEEN,
    why: 'Seconds, or a date in words, are refused with 401.',
    fix: 'Send Unix time in milliseconds as X-Service-Timestamp, and sign exactly that text.',
    scenario: 'first contact',
    judge: history =>
      each(signedCallbacks(history), callback => {
        const timestamp = headerOf(callback, 'X-Service-Timestamp')
        return /^\d{13}$/.test(timestamp ?? '') ? null : `sent ${shown(timestamp)} as time`
      }),
  },
  {
    id: 'cb.clock',
    title: 'has a clock that is right to within a minute',
    level: 'should',
    law: { source: 'I-timestamp', quote: 'More than five minutes off, the request is refused.' },
    why: 'A clock that drifts further cuts the agent off in both directions: it refuses webhooks, and its callbacks are refused.',
    fix: 'Let NTP keep the clock of the machine.',
    scenario: 'first contact',
    after: ['cb.time-form'],
    judge: clockOf,
  },
  {
    id: 'cb.digest-form',
    title: 'writes the signature in 64 lower-case hex digits',
    level: 'must',
    law: SIGNED,
    why: 'Any other spelling of the digest is refused with 401.',
    fix: 'Send the digest in lower-case hex, with nothing before or behind it.',
    scenario: 'first contact',
    judge: history =>
      each(signedCallbacks(history), callback => {
        const digest = headerOf(callback, 'X-Service-Signature')
        return /^[0-9a-f]{64}$/.test(digest ?? '') ? null : `sent ${shown(digest)} as signature`
      }),
  },
  {
    id: 'cb.json',
    title: 'sends its callbacks as JSON objects, and says so',
    level: 'must',
    law: JSON_WITH_ACTION,
    why: 'A body that can’t be read is refused with 400.',
    fix: 'Send Content-Type: application/json, and an object in UTF-8 without a byte order mark.',
    scenario: 'first contact',
    judge: history =>
      each(signedCallbacks(history), callback => {
        const type = headerOf(callback, 'Content-Type')
        if (!/^application\/json\s*(;|$)/i.test(type ?? '')) return `sent ${shown(type)} as content type`
        if (callback.body.text === undefined) return 'sent a body that is not UTF-8'
        return bodyIn(callback) ? null : `sent a body that is no JSON object: ${shown(callback.body.text)}`
      }),
  },
  {
    id: 'cb.action',
    title: 'names one of the four actions in each callback',
    level: 'must',
    law: JSON_WITH_ACTION,
    why: 'An unknown action is refused with 400: nothing comes of it.',
    fix: 'Send accept, reject, deliver or message as action, in lower case.',
    scenario: 'first contact',
    after: ['cb.json'],
    judge: history =>
      each(signedCallbacks(history), callback => {
        const action = bodyIn(callback)?.action
        const known = ['accept', 'reject', 'deliver', 'message'].includes(action as string)
        return known ? null : `sent ${action === undefined ? 'no' : `“${action}” as`} action`
      }),
  },
  {
    id: 'cb.task-id',
    title: 'names the task in the body of each callback',
    level: 'should',
    law: { source: 'A-38', quote: 'A `taskId` in the body must be that of the path.' },
    why: 'The signature does not cover the path. Whoever sees an accept could send it for another task.',
    fix: 'Put taskId, as the webhook gives it, into the body of each callback.',
    scenario: 'first contact',
    after: ['cb.json'],
    judge: history =>
      each(signedCallbacks(history), callback => {
        const named = bodyIn(callback)?.taskId
        if (named === undefined) return 'sent no taskId'
        return named === callback.taskId ? null : 'named another task in the body than in the path'
      }),
  },
  {
    id: 'cb.unique',
    title: 'never sends one signature for two tasks',
    level: 'should',
    law: { source: 'A-38', quote: 'with another task it is 401' },
    why: 'If two tasks are accepted in the same moment, one of the callbacks is refused with 401.',
    fix: 'Put taskId into the body, and sign with the time in milliseconds.',
    scenario: 'many callbacks',
    judge: sharedSignature,
  },
]
