/** Judges the time of a request: whether it came late, or whether the clock of its sender is wrong. */
import { durations } from '../limits.ts'
import { roughly } from '../spans.ts'
import type { Flaw } from './causes.ts'
import { type HeaderLines, timestampIn } from './headers.ts'
import { readStamp } from './layouts.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HALF_HOUR = 30 * MINUTE

/** How old a request was when it came, by its timestamp, in ms; below 0 if it is from the future. null: it has no time. */
export function ageOf(headers: HeaderLines, cameAt: number): number | null {
  const { value } = timestampIn(headers)
  const ms = value === undefined ? null : readStamp(value).ms
  return ms === null ? null : cameAt - ms
}

/**
 * Says how far a time is from this clock, if it is too far. `ms`: null if the time is unknown. `earlier`: how old earlier
 * requests of the sender were when they came. One request may have been slow, so the median of several tells the clock.
 */
export function ageFlaws(ms: number | null, now: number, earlier: readonly number[] = []): Flaw[] {
  const age = ms === null ? 0 : now - ms
  if (Math.abs(age) <= durations.signatureToleranceMs) return []
  const allowed = roughly(durations.signatureToleranceMs)
  const away = `The timestamp is ${roughly(Math.abs(age))} ${age > 0 ? 'behind' : 'ahead of'} the clock here; ${allowed} are allowed.`
  const { cause, words } = earlier.length < FEWEST ? alone(age) : beside(age, earlier)
  return [{ cause, text: `${away} ${words}` }]
}

/** Two others outvote one slow request. */
const FEWEST = 2

interface Judged {
  readonly cause: Flaw['cause']
  readonly words: string
}

const clockCause = (age: number) => (age > 0 ? 'stale' : 'future')

const offset = (age: number) => `${roughly(Math.abs(age))} ${age > 0 ? 'behind' : 'ahead'}`

const alone = (age: number): Judged => ({
  cause: clockCause(age),
  words: `If it was signed just now, the clock of the sender is ${offset(age)}.${zone(age)}`,
})

function beside(age: number, earlier: readonly number[]): Judged {
  const usual = median([...earlier, age])
  const isClock = usual / age > 0.5
  if (isClock) {
    const words = `So were most of its last ${earlier.length}: the clock of the sender is ${offset(usual)}.${zone(usual)}`
    return { cause: clockCause(age), words }
  }
  const clock = Math.abs(usual) < SECOND ? 'agrees with this one' : `is ${offset(usual)}`
  const words = `By its last ${earlier.length} requests the clock of the sender ${clock}, so this one was signed at another time than it was sent.`
  return { cause: 'signed_early', words }
}

function zone(age: number): string {
  const away = Math.abs(age)
  const toZone = Math.abs(away - Math.round(away / HALF_HOUR) * HALF_HOUR)
  return toZone < MINUTE && away < 15 * durations.hourMs ? ' That may be a time zone: Unix time is UTC.' : ''
}

/** Of an even number, the lower one of the middle. */
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[(values.length - 1) >> 1]!
