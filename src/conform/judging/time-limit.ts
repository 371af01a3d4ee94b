/** The time that a run has. When it is over, the run ends with what was seen until then. Source: A-277. */
import type { Recordeds } from '../history/history.ts'

/** An agent that works on each task for as long as it may by default needs most of it, and a job of a CI service has an hour, or more. */
export const USUAL_LIMIT_MS = 45 * 60_000

/** Why a run is ended: its time is over. Anything else that ends it is a person, or a pipeline that is cancelled. */
export class TimeOver extends Error {
  readonly limitMs: number

  constructor(limitMs: number) {
    super(timeOverInWords(limitMs))
    this.limitMs = limitMs
  }
}

type End = Omit<Recordeds<'end'>, 'seq' | 'lane' | 'realAt' | 'at'>

/** How a run ended, for its history. */
export const endOf = (signal: AbortSignal | undefined, ms: number): End => ({
  ...{ kind: 'end', interrupted: signal?.aborted ?? false, ms },
  ...(signal?.reason instanceof TimeOver && { limitMs: signal.reason.limitMs }),
})

/** Why nothing more is done in a run that ends before its end. */
export const whyEnded = (signal: AbortSignal): string =>
  signal.reason instanceof TimeOver ? signal.reason.message : 'the run was interrupted'

/** What a check comes to that the end of the run has cut off. */
export const cutOffInWords = (end: Pick<End, 'limitMs'> | undefined): string =>
  end?.limitMs === undefined ? 'the run ended before' : timeOverInWords(end.limitMs)

const timeOverInWords = (limitMs: number) =>
  `the time of the run was over: it had ${typed(limitMs)}, --timeout ${typed(2 * limitMs)} gives it more`

/** As the flag takes it. */
export function typed(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000}m`
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`
}
