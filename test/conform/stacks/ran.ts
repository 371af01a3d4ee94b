/** A run of the command with a right agent, and what is wrong with it: a check, or what the command takes. */
import type { Report } from '../../../src/conform/judging/report.ts'
import type { RightAgent } from '../mutants/right-agents.ts'

/** What the command may take, whatever the agent. */
const MOST_MEGABYTES = 150
/** Who waits takes for dead what is silent for longer, if nothing else has the processors: before its first word the command may wait for them. */
const MOST_SILENT_S = 5

export interface Ran {
  readonly seed: number
  readonly report: Pick<Report, 'checks' | 'deaths'>
  readonly code: number
  readonly seconds: number
  readonly megabytes: number
  /** The longest time in which it said nothing, in s. */
  readonly silent: number
  /** Busy processes had the processors as well. */
  readonly isBeside: boolean
}

/**
 * Nothing that it must is lost or untested, unless its author has declared so, and of what it should only what it does otherwise on purpose.
 * What could not be told counts as nothing.
 */
export function faultsIn(
  { report, code, megabytes, silent, isBeside }: Ran,
  { warns = [] }: Pick<RightAgent, 'warns'>,
): string[] {
  const lost = report.checks.filter(
    ({ id, level, verdict, byDeclaration }) =>
      ['fail', 'behind'].includes(verdict) ||
      (verdict === 'untested' && level === 'must' && !byDeclaration) ||
      (verdict === 'warn' && !warns.includes(id)),
  )
  const deaths = report.deaths.map(() => 'the agent ended by itself')
  const isUnsure = report.checks.some(({ verdict }) => verdict === 'inconclusive')
  const ends = code === 0 || (code === 1 && isUnsure) ? [] : [`the exit code is ${code}`]
  const large = megabytes <= MOST_MEGABYTES ? [] : [`the command took ${megabytes.toFixed(0)} MB`]
  const quiet = isBeside || silent <= MOST_SILENT_S ? [] : [`the command was silent for ${silent.toFixed(1)} s`]
  return [
    ...lost.map(({ id, verdict, text }) => `${id} is ${verdict}: ${text}`),
    ...deaths,
    ...ends,
    ...large,
    ...quiet,
  ]
}
