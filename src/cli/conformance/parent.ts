/**
 * Whoever starts the command with a channel to it hears of the run while it goes on: `dev`, whose console shows it. Without its parent a run
 * has nobody to tell, and ends.
 */
import { checks } from '../../conform/checks/index.ts'
import type { History, Recorded } from '../../conform/history/history.ts'
import { stopwatch } from '../../conform/history/machine-time.ts'
import type { Outcome, Report, ReportedCheck } from '../../conform/judging/report.ts'
import { eventLine } from '../../conform/reports/findings.ts'
import { verdictOf } from '../../conform/reports/verdict.ts'
import { tellsParent } from '../../settings/config.ts'
import { linesOf } from './explain.ts'

export interface ToldRun {
  readonly report: Report
  readonly outcome: Outcome
  /** In one sentence. */
  readonly text: string
  readonly played: readonly string[]
  /** Ids of checks whose scenarios have not ended. */
  readonly toCome: readonly string[]
  /** Of scenarios; undefined: that is not known before. */
  readonly count: number | undefined
  /** By ids of checks that are not as they should be: what shows it. */
  readonly seen: Readonly<Record<string, readonly SeenEvent[]>>
}

interface SeenEvent {
  readonly line: string
  /** As they went over the wire. */
  readonly bytes: readonly string[]
}

/** Judging all that happened takes a tenth of a second. */
const EVERY_MS = 700
const MOST_EVENTS = 4
/** Of one event, and characters of a line: a hostile agent's headers are in them. */
const MOST_LINES = 60
const MOST_CHARACTERS = 2_200

/** Whoever has a channel to its parent for something else tells nothing. */
const isHeard = () => process.connected && tellsParent()

/** Returns what hears of each scenario that has ended. `gone`: the parent has ended, or wants no more. */
export function parentOf(count: number | undefined, gone: () => void) {
  let sinceTold: (() => number) | null = null
  if (isHeard()) {
    process.once('disconnect', gone)
    process.channel?.unref()
  }
  return (judged: () => Report, history: History): void => {
    if (!isHeard() || (sinceTold !== null && sinceTold() < EVERY_MS)) return
    process.send!(toldOf(judged(), history, count))
    sinceTold = stopwatch()
  }
}

/** Resolves when the parent has it, if there is one. */
export async function tellParent(report: Report, history: History): Promise<void> {
  if (isHeard()) await new Promise(resolve => process.send!(toldOf(report, history, undefined), resolve))
}

function toldOf(report: Report, history: History, count: number | undefined): ToldRun {
  const { outcome, sentence } = verdictOf(report)
  const played = history.of('scenario').map(({ scenario }) => scenario)
  const faults = report.checks.filter(({ verdict }) => ['fail', 'warn', 'inconclusive'].includes(verdict))
  return {
    ...{ report, outcome, text: sentence, count, played },
    toCome: checks.filter(({ scenario }) => !played.includes(scenario)).map(({ id }) => id),
    seen: Object.fromEntries(faults.map(check => [check.id, seenOf(check, history)])),
  }
}

const seenOf = ({ evidence }: ReportedCheck, { events }: History): SeenEvent[] =>
  events
    .filter(({ seq }) => evidence.includes(seq))
    .slice(0, MOST_EVENTS)
    .map(event => ({ line: eventLine(event), bytes: shortLinesOf(event) }))

const shortLinesOf = (event: Recorded) =>
  linesOf(event)
    .slice(0, MOST_LINES)
    .map(line => line.slice(0, MOST_CHARACTERS))
