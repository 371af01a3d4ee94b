/** The report of a run: what programs read, and what all other reports are made from. */

import type { AgentTold, History, Purchases } from '../history/history.ts'
import { type Baseline, compareWith, isUntried, type Untrue } from './baseline.ts'
import type { Check, Level } from './check.ts'
import { deathsIn, ENDED, lastHeard, reasonOf } from './deaths.ts'
import { type Judged, judge, type Verdict, verdicts } from './judge.ts'

/** A check with its verdict. `id`, `level` and `verdict` stay as they are named. */
export interface ReportedCheck extends Judged {
  readonly law: Check['law']
  readonly why: string
  readonly fix: string
  /** false: the set of requirements does not have it, so it decides nothing. */
  readonly scored: boolean
  /** Why the baseline excuses it, so that it decides nothing; null: it does not. */
  readonly excused: string | null
  /** Its share of the time that its scenario took, in real time. */
  readonly ms: number
}

/** The agent has ended by itself. */
export interface ReportedDeath {
  /** Follows “ended”. */
  readonly how: string
  readonly code: number | null
  readonly signal: string | null
  /** Since the beginning of the run. */
  readonly afterMs: number
  /** What was under way, or had come last. */
  readonly evidence: readonly number[]
  /** To stderr. */
  readonly lastWords: readonly string[]
  /** Ids of checks that could not be tried any more. */
  readonly behind: readonly string[]
}

/** What is to be mended: a must that is broken and decides, or an end of the agent. */
interface Cause {
  /** Of the check, or `agent.ended`. */
  readonly id: string
  /** Ids of checks that were not judged because of it. */
  readonly behind: readonly string[]
}

type Counts = Readonly<Record<Verdict, number>>

export interface Report {
  readonly schema: 'conformance-run/1'
  /** Of the package. */
  readonly version: string
  /** Gives the same run again. */
  readonly seed: number
  readonly agent: AgentTold
  /** ISO 8601 */
  readonly startedAt: string
  readonly ms: number
  /** Ctrl-C ended it, or its time was over: the checks say what was seen until then. */
  readonly interrupted: boolean
  /** So much time it had, if that was over; null: it was not. */
  readonly limitMs: number | null
  /** What was left out because the author has declared so. */
  readonly declared: readonly string[]
  /** The set of checks that decides; null: all do. */
  readonly requirements: string | null
  /** Lines of the baseline that are wrong by now. */
  readonly baseline: readonly Untrue[]
  /** In the order in which to mend them. */
  readonly causes: readonly Cause[]
  readonly checks: readonly ReportedCheck[]
  readonly deaths: readonly ReportedDeath[]
  /** What was bought from an agent that was looked at from outside; null: nothing. */
  readonly bought: Purchases | null
  readonly summary: Counts & { readonly total: number; readonly levels: Readonly<Record<Level, Counts>> }
}

interface Scoring {
  /** The name of the set, and its ids. */
  readonly requirements?: { readonly name: string; readonly ids: readonly string[] } | null
  readonly baseline?: Baseline
  /** Ids of all checks there are. */
  readonly known: readonly string[]
}

/** `some`: the checks that the report is about, among `checks`, which are what they depend on too. */
export function reportOf(
  checks: readonly Check[],
  history: History,
  { requirements = null, baseline = {}, known }: Scoring,
  some: readonly Check[] = checks,
): Report {
  const { version, seed, agent, declared, realAt } = history.begin
  const startedAt = new Date(realAt).toISOString()
  const byId = new Map(checks.map(check => [check.id, check]))
  const verdicts = judge(checks, history, some).filter(({ id }) => some.includes(byId.get(id)!))
  const { excused, untrue } = compareWith(baseline, verdicts, {
    ...{ today: startedAt.slice(0, 10), known },
    isPartial: agent.listed !== undefined,
  })
  const judged = verdicts.map((one): ReportedCheck => {
    const { law, why, fix, scenario } = byId.get(one.id)!
    const beside = some.filter(other => other.scenario === scenario).length
    const played = history.of('scenario').find(event => event.scenario === scenario)
    const scored = requirements === null || requirements.ids.includes(one.id)
    return {
      ...one,
      law,
      why,
      fix,
      scored,
      excused: excused.get(one.id) ?? null,
      ms: Math.round((played?.ms ?? 0) / beside),
    }
  })
  const [end] = history.of('end')
  return {
    schema: 'conformance-run/1',
    ...{ version, seed, agent, startedAt },
    ms: end?.ms ?? (history.events.at(-1)?.realAt ?? realAt) - realAt,
    interrupted: end?.interrupted ?? true,
    limitMs: end?.limitMs ?? null,
    declared,
    requirements: requirements?.name ?? null,
    baseline: untrue,
    causes: causesOf(judged),
    checks: judged,
    deaths: deathsOf(history, judged),
    bought: boughtIn(history),
    summary: summaryOf(judged),
  }
}

function deathsOf(history: History, judged: readonly Judged[]): ReportedDeath[] {
  const told = new Set<string>()
  return deathsIn(history).map(event => {
    const { text: how, death, realAt } = event
    const reason = reasonOf(event)
    const those = judged.filter(({ id, verdict, text }) => verdict === 'behind' && text === reason && !told.has(id))
    for (const { id } of those) told.add(id)
    return {
      ...{ how, ...death!, afterMs: realAt - history.begin.realAt, behind: those.map(({ id }) => id) },
      evidence: lastHeard(history, event).map(({ seq }) => seq),
    }
  })
}

/** An end comes first, as it may be why the rest is as it is; then what most others wait for. */
function causesOf(judged: readonly ReportedCheck[]): Cause[] {
  const behindIt = (cause: string) => judged.filter(({ behind }) => behind === cause).map(({ id }) => id)
  const ended: Cause = { id: ENDED, behind: behindIt(ENDED) }
  const causes = judged.filter(isBroken).map(({ id }): Cause => ({ id, behind: behindIt(id) }))
  const inOrder = causes.sort((one, other) => other.behind.length - one.behind.length)
  return ended.behind.length > 0 ? [ended, ...inOrder] : inOrder
}

/** Whether it is why a pipeline is red. */
export const isBroken = ({ verdict, scored, excused }: ReportedCheck): boolean =>
  verdict === 'fail' && scored && excused === null

function boughtIn(history: History): Purchases | null {
  const [event] = history.of('purchases')
  if (!event) return null
  const { limit, spent, held, tasks } = event
  return { limit, spent, held, tasks }
}

function summaryOf(judged: readonly Judged[]): Report['summary'] {
  const those = (level: Level) => countsOf(judged.filter(one => one.level === level))
  return {
    ...countsOf(judged),
    total: judged.length,
    levels: { must: those('must'), should: those('should'), may: those('may') },
  }
}

const countsOf = (judged: readonly Judged[]) =>
  Object.fromEntries(verdicts.map(verdict => [verdict, judged.filter(one => one.verdict === verdict).length])) as Counts

/**
 * How a run ended. `bad`: the agent breaks what it must keep, or ends by itself so that something can't be tried. `unsure`: the run itself went wrong, or judged nothing. What the agent does
 * wrong counts more than what could not be told.
 */
export type Outcome = 'good' | 'bad' | 'unsure'

export interface Asked {
  /** What an agent should do counts too. */
  readonly strict: boolean
  /** Nothing that it must do may have stayed untested, but for what its author has declared. */
  readonly complete: boolean
}

export function outcomeOf(report: Report, { strict, complete }: Asked): Outcome {
  const { summary, interrupted, baseline } = report
  const deciding = decidingIn(report)
  const isBad = ({ verdict, level, byDeclaration }: ReportedCheck) =>
    verdict === 'fail' ||
    (strict && verdict === 'warn') ||
    (complete && level === 'must' && isUntried(verdict) && !byDeclaration)
  if (baseline.length > 0 || deathDecides(report) || deciding.some(isBad)) return 'bad'
  const isUnsure = deciding.some(({ verdict }) => verdict === 'inconclusive')
  return interrupted || isUnsure || summary.pass + summary.warn + summary.fail === 0 ? 'unsure' : 'good'
}

const decidingIn = ({ checks }: Report) => checks.filter(({ scored, excused }) => scored && excused === null)

/** Whether the agent has ended so that something which counts could not be tried. */
export const deathDecides = (report: Report): boolean =>
  decidingIn(report).some(({ id }) => report.deaths.some(({ behind }) => behind.includes(id)))

/**
 * One report of several runs with one seed. A check with two verdicts is a fault of the judge or of the machine, so it says nothing. Of
 * what is the same in all, the last run tells, and of what the end of that has cut off the one before.
 */
export function withRepeats(reports: readonly Report[]): Report {
  const last = reports.at(-1)!
  const checks = last.checks.map((check): ReportedCheck => {
    const before = reports.slice(0, -1).map(report => report.checks.find(({ id }) => id === check.id)!)
    const wasCutOff = last.interrupted && check.verdict === 'inconclusive'
    const seen = [...new Set([...before, ...(wasCutOff ? [] : [check])].map(({ verdict }) => verdict))]
    // Evidence is of the history that is told, which is that of the last run.
    if (wasCutOff && seen.length === 1) return { ...before.at(-1)!, evidence: [] }
    if (seen.length <= 1) return check
    return { ...check, verdict: 'inconclusive', text: `${seen.join(' and ')} in ${reports.length} runs with one seed` }
  })
  return { ...last, causes: causesOf(checks), checks, summary: summaryOf(checks) }
}
