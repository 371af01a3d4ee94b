/** The time limit of a run. When it is reached, the run ends with what it has seen so far. Source: A-277. */
import type { History, Recordeds } from '../history/history.ts'
import { type Check, type Finding, inconclusive } from './check.ts'
import { isDeed } from './deaths.ts'

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

/** What a check comes to whose scenario has not ended: a run that has gone to its end was not asked for it. */
export const notPlayedInWords = (end: Pick<End, 'limitMs' | 'interrupted'> | undefined): string =>
  end?.interrupted === false ? 'the run was made without it' : cutOffInWords(end)

const timeOverInWords = (limitMs: number) =>
  `the time of the run was over: it had ${typed(limitMs)}, --timeout ${typed(2 * limitMs)} gives it more`

/** As the flag takes it. */
export function typed(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000}m`
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`
}

/** Whoever answers sooner does what an agent should. */
const SLOW_ANSWER_MS = 5_000
const SLOW_WORK_MS = 10_000

/** In whole sentences without their full stops; empty: it is not the agent that takes so long. */
export function slownessInWords(history: History): string[] {
  const answers = history.of('webhook').filter(({ genuine }) => genuine)
  const [late, work] = [middleOf(answers.map(({ ms }) => ms)), middleOf(worksIn(history))]
  return [
    late > SLOW_ANSWER_MS &&
      `Half of the ${answers.length} webhooks were answered only after ${seconds(late)} or later`,
    work > SLOW_WORK_MS && `Half of the deliveries came ${seconds(work)} or longer after the agent had begun`,
  ].filter(sentence => sentence !== false)
}

/** How long each delivery took, in ms of this machine. */
function worksIn(history: History): number[] {
  return history.of('step').flatMap(({ trigger, taskId, seq, realAt }) => {
    const begun = history.stepsOf(taskId).findLast(step => step.seq < seq && step.to === 'in_progress')
    return trigger === 'deliver' && begun ? [realAt - begun.realAt] : []
  })
}

/** So long, or longer, half of them took. One alone may be late by chance. */
const middleOf = (times: readonly number[]): number =>
  times.length < 2 ? 0 : times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

/** What an agent owes may come a moment after the scenario. */
export const SURE_MS = 1_000

/** What it has done or said counts whenever that was. */
export function unlessCutOff(finding: Finding, { scenario }: Check, history: History): Finding {
  const [end] = history.of('end')
  if (finding.holds !== false || !end?.interrupted || isDeed(finding.evidence, history)) return finding
  const played = history.of('scenario').find(one => one.scenario === scenario && one.outcome === 'done')
  const isSure = played !== undefined && end.realAt - played.realAt >= SURE_MS
  return isSure ? finding : inconclusive(cutOffInWords(end))
}
