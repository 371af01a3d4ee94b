/** Durations as people type and read them: 90s, 15m, 48h, 7d, 1h30m. */
import { UsageError } from '../../settings/config.ts'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
type Unit = keyof typeof unitMs

/** Returns whole milliseconds. */
export function durationGiven(text: string): number {
  const parts = [...text.matchAll(/(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    throw new UsageError(`A duration is written like 90s, 15m, 48h, 7d or 1h30m, not ${text}.`)
  }
  return Math.round(parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitMs[unit as Unit], 0))
}

/** Returns the two largest units, such as `2 d 4 h`. Under a second: milliseconds. */
export function durationInWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const parts: string[] = []
  let left = Math.round(ms / 1_000) * 1_000
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const count = Math.floor(left / unitMs[unit])
    left -= count * unitMs[unit]
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit === 'm' ? 'min' : unit}`)
    else if (parts.length > 0) break
  }
  return parts.join(' ')
}
