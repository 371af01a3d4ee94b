/** Times as answers print them. Source: D14. */

/** What was printed lately: an answer tells the same moment several times. */
const printed = new Map<number, string>()
const KEPT = 256

export function iso(ms: number): string {
  const known = printed.get(ms)
  if (known !== undefined) return known
  const text = new Date(ms).toISOString()
  if (printed.size >= KEPT) printed.clear()
  printed.set(ms, text)
  return text
}

export const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms))
