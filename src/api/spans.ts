/** Durations in words, for sentences. */
import { durations } from './limits.ts'

export const inSeconds = (ms: number) => (ms === 1000 ? '1 second' : `${ms / 1000} seconds`)
export const inMinutes = (ms: number) => `${ms / 60_000} minutes`
export const inHours = (ms: number) => `${ms / durations.hourMs} hours`
