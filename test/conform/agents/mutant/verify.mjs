// Verifies webhooks, rightly: the form of both headers, the age, the whole digest over the raw bytes. Most lines with a bug accept too much.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { verifiedBytes } from './reading.mjs'
import { digestOf, key, now, secret } from './signature.mjs'
import { bug, style } from './switches.mjs'

const TOLERANCE_MS = style('tolerance-2-min') ? 120_000 : 300_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Whether the marketplace has signed these very bytes, and has done so just now. */
export function isGenuine(headers, raw) {
  const body = verifiedBytes(raw)
  if (style('standard-webhooks')) return isStandard(headers, body)
  if (bug('no-verification')) return true
  const timestamp = headers['x-service-timestamp']
  const signatures = headers['x-service-signature']
  const signature = bug('remembers-all-signatures')
    ? signatures?.split(', ').find(one => !/^0+$/.test(one))
    : signatures
  if (bug('verifies-only-if-signed') && signature === undefined && timestamp) return true
  if (bug('verifies-only-if-timed') && timestamp === undefined && signature) return true
  if (bug('bare-requests-pass') && signature === undefined && timestamp === undefined) return true
  if (bug('empty-headers-pass') && signature === '' && timestamp === '') return true
  if (bug('judges-body-time') && now() - Date.parse(JSON.parse(body).timestamp) > HOUR) return false
  if (!signature || !isFresh(bug('reads-last-time') ? lastOf(timestamp) : timestamp)) return false
  const signed = bug('reads-last-time') ? firstOf(timestamp) : timestamp
  return expectedOf(signed, body).some(expected => isSame(signature, expected))
}

// Node joins headers of the same name.
const firstOf = header => header?.split(', ')[0]
const lastOf = header => header?.split(', ').at(-1)

function isFresh(timestamp) {
  if (bug('never-looks-at-the-time')) return true
  if (bug('nan-is-fresh') && Number.isNaN(Number(timestamp))) return true
  if (bug('takes-seconds') && /^\d{10}$/.test(timestamp)) return isFresh(`${timestamp}000`)
  if (!/^\d{13}$/.test(timestamp)) return false
  const age = now() - Number(timestamp)
  if (bug('no-skew-check')) return true
  if (bug('skew-of-an-hour')) return Math.abs(age) <= HOUR
  if (bug('compares-time-of-day')) return Math.abs(age % DAY) <= TOLERANCE_MS
  if (bug('only-old-is-refused')) return age <= TOLERANCE_MS
  if (bug('skew-of-a-minute')) return Math.abs(age) <= 60_000
  return Math.abs(age) <= TOLERANCE_MS
}

/** Of a right agent, the one digest. */
function expectedOf(timestamp, body) {
  const text = body.toString()
  const digests = [digestOf(key, `${timestamp}.`, bug('signs-what-it-parsed') ? respelled(text) : body)]
  const also = (is, digest) => is && digests.push(digest())
  also(bug('knows-empty-secret'), () => digestOf('', `${timestamp}.`, body))
  also(bug('knows-neighbours'), () => digestOf(neighbourSecret(), `${timestamp}.`, body))
  also(bug('time-may-differ'), () => digestOf(key, `${Number(timestamp) - 1}.`, body))
  also(bug('time-may-be-unsigned'), () => digestOf(key, '', body))
  also(bug('dot-may-be-missing'), () => digestOf(key, timestamp, body))
  also(bug('trims-body'), () => digestOf(key, `${timestamp}.`, text.trim()))
  also(bug('spelling-may-differ'), () => digestOf(key, `${timestamp}.`, respelled(text)))
  for (const old of oldSecrets) digests.push(digestOf(old, `${timestamp}.`, body))
  for (const digit of '123456789')
    also(bug('price-may-differ'), () => digestOf(key, `${timestamp}.`, repriced(text, digit)))
  return digests
}

const oldSecrets = bug('keeps-old-secrets') ? secretsUntilNow() : []

function secretsUntilNow() {
  const file = `${process.env.MUTANT_STATE}.secrets`
  appendFileSync(file, `${secret}\n`)
  return readFileSync(file, 'utf8').trim().split('\n')
}

const repriced = (text, digit) => text.replace(/("agreedPrice":)\d/, `$1${digit}`)

/** The judge derives the secret of another agent in this way. */
const neighbourSecret = () => `whsec_${createHash('sha256').update(`${secret} of a neighbour`).digest('base64')}`

function respelled(text) {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

function isSame(given, expected) {
  if (bug('ignores-the-last-digit')) return given.length === 64 && given.slice(0, 63) === expected.slice(0, 63)
  if (bug('compares-half')) return given.length === 64 && given.slice(0, 32) === expected.slice(0, 32)
  if (bug('beginning-is-enough')) return expected.startsWith(given) && given.length > 3
  if (bug('end-is-free')) return given.startsWith(expected)
  if (bug('decodes-hex-loosely')) return holdsAll(Buffer.from(given, 'hex'), Buffer.from(expected, 'hex'))
  return /^[0-9a-f]{64}$/.test(given) && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}

/** Compares as many bytes as were given: of what is no hex, none. */
const holdsAll = (given, expected) => given.every((byte, at) => byte === expected[at])

/** By the other set of headers, for which there are libraries. */
function isStandard(headers, body) {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signatures = '' } = headers
  if (!/^\d{10}$/.test(timestamp) || Math.abs(now() / 1000 - Number(timestamp)) > TOLERANCE_MS / 1000) return false
  const standardKey = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', standardKey).update(`${id}.${timestamp}.`).update(body).digest('base64')
  const isRight = one =>
    /^v1,[A-Za-z0-9+/]{43}=$/.test(one) && timingSafeEqual(Buffer.from(one.slice(3)), Buffer.from(expected))
  return signatures.split(' ').some(isRight)
}
