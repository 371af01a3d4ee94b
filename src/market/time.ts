/** Formats times for responses. Source: A-14. */

const DAY_MS = 24 * 3_600_000

const padded = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => String(n).padStart(length, '0'))
const TWO = padded(60, 2)
const THREE = padded(1_000, 3)

// Date alone takes 370 ns, and a task has six times. So it takes 60, and 250 where each time is of another day.
let day = Number.NaN
let date = ''

export function iso(ms: number): string {
  const itsDay = Math.floor(ms / DAY_MS)
  if (itsDay !== day) {
    date = new Date(itsDay * DAY_MS).toISOString().slice(0, -'00:00:00.000Z'.length)
    day = itsDay
  }
  const rest = Math.floor(ms) - itsDay * DAY_MS
  const seconds = Math.floor(rest / 1_000)
  const minutes = Math.floor(seconds / 60)
  return `${date}${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}:${TWO[seconds % 60]}.${THREE[rest % 1_000]}Z`
}

export const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms))
