/** Formats times for responses. Source: A-14. */

/** The formatted seconds of recent calls. Times in one response are often close together. */
const seconds = new Map<number, string>()
const KEPT = 256

export function iso(ms: number): string {
  const second = Math.floor(ms / 1000)
  let beginning = seconds.get(second)
  if (beginning === undefined) {
    beginning = new Date(second * 1000).toISOString().slice(0, -4)
    if (seconds.size >= KEPT) seconds.clear()
    seconds.set(second, beginning)
  }
  return `${beginning}${String(Math.floor(ms) - second * 1000).padStart(3, '0')}Z`
}

export const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms))
