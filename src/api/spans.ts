/** Durations in words, for sentences. */

import { durations } from './limits.ts'
export const inSeconds = (ms: number) => `${ms / 1000} seconds`
export const inMinutes = (ms: number) => `${ms / 60_000} minutes`
export const inHours = (ms: number) => `${ms / durations.hourMs} hours`

/** A duration in its two largest units: `12 min 3 s`. */
export function roughly(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = units.findIndex(([count]) => count > 0)
  const shown = units.slice(first, first + 2).filter(([count]) => count > 0)
  return first < 0 ? '0 s' : shown.map(([count, unit]) => `${count} ${unit}`).join(' ')
}

/** 50000 → `50,000`. Not by `toLocaleString`, whose first call takes 10 ms of a start. */
export const grouped = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ',')
