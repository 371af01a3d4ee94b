/** The report of a run: what programs read, and what all other reports are made from. */
import type { Check, Level } from './check.ts'
import type { History } from './history.ts'
import { type Judged, judge, type Verdict, verdicts } from './judge.ts'

/** A check with its verdict. `id`, `level` and `verdict` stay as they are named. */
interface ReportedCheck extends Judged {
  readonly law: Check['law']
  readonly why: string
  readonly fix: string
}

type Counts = Readonly<Record<Verdict, number>>

export interface Report {
  readonly schema: 'conformance-run/1'
  /** Of the package. */
  readonly version: string
  /** Gives the same run again. */
  readonly seed: number
  readonly agent: { readonly url: string; readonly command: string | null }
  /** ISO 8601 */
  readonly startedAt: string
  readonly ms: number
  /** Ctrl-C ended it: the checks say what was seen until then. */
  readonly interrupted: boolean
  /** What was left out because the author has declared so. */
  readonly declared: readonly string[]
  readonly checks: readonly ReportedCheck[]
  readonly summary: Counts & { readonly total: number; readonly levels: Readonly<Record<Level, Counts>> }
}

export function reportOf(checks: readonly Check[], history: History): Report {
  const judged = judge(checks, history).map((one, at) => {
    const { law, why, fix } = checks[at]!
    return { ...one, law, why, fix }
  })
  const { version, seed, agent, declared, realAt } = history.begin
  const [end] = history.of('end')
  return {
    schema: 'conformance-run/1',
    ...{ version, seed, agent, startedAt: new Date(realAt).toISOString() },
    ms: end?.ms ?? (history.events.at(-1)?.realAt ?? realAt) - realAt,
    interrupted: end?.interrupted ?? true,
    declared,
    checks: judged,
    summary: {
      ...countsOf(judged),
      total: judged.length,
      levels: {
        must: countsOf(judged.filter(({ level }) => level === 'must')),
        should: countsOf(judged.filter(({ level }) => level === 'should')),
        may: countsOf(judged.filter(({ level }) => level === 'may')),
      },
    },
  }
}

const countsOf = (judged: readonly Judged[]) =>
  Object.fromEntries(verdicts.map(verdict => [verdict, judged.filter(one => one.verdict === verdict).length])) as Counts

/**
 * How a run ended. `bad`: the agent breaks what it must keep. `unsure`: the run itself went wrong, or judged nothing. What the agent does
 * wrong counts more than what could not be told.
 */
export type Outcome = 'good' | 'bad' | 'unsure'

/** `strict`: what an agent should do counts too. */
export function outcomeOf({ summary, interrupted }: Report, { strict }: { strict: boolean }): Outcome {
  if (summary.fail > 0 || (strict && summary.warn > 0)) return 'bad'
  const judged = summary.pass + summary.warn
  return interrupted || summary.inconclusive > 0 || judged === 0 ? 'unsure' : 'good'
}
