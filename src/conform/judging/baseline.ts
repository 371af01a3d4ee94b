/**
 * What is known and not yet mended: verdicts that do not count for now, each with a reason. A line that has become untrue counts instead,
 * or nobody would notice when what it excuses breaks again.
 */
import type { Judged, Verdict } from './judge.ts'

/** Verdicts that can be excused. */
export const excusable = ['fail', 'warn', 'behind', 'untested'] as const satisfies readonly Verdict[]

interface Excuse {
  readonly verdict: (typeof excusable)[number]
  readonly why: string
  /** The last day on which it counts, as 2027-01-31. */
  readonly until?: string | undefined
}

/** By the ids of checks. */
export type Baseline = Readonly<Record<string, Excuse>>

/** A line of the baseline that is wrong by now. */
export interface Untrue {
  readonly id: string
  /** `stale`: the check has another verdict. `expired`: its day is over. `unknown`: there is no such check. */
  readonly fault: 'stale' | 'expired' | 'unknown'
  readonly text: string
}

/**
 * `today`: as 2027-01-31. `known`: ids of all checks, of which this run may have judged only some. `isPartial`: what is untested could not
 * be seen from where the run looked.
 */
export function compareWith(
  baseline: Baseline,
  judged: readonly Judged[],
  { today, known, isPartial }: { today: string; known: readonly string[]; isPartial: boolean },
) {
  const excused = new Map<string, string>()
  const untrue: Untrue[] = []
  for (const [id, { verdict, why, until }] of Object.entries(baseline)) {
    const now = judged.find(one => one.id === id)
    if (!known.includes(id)) untrue.push({ id, fault: 'unknown', text: 'there is no such check: take the line out' })
    else if (until !== undefined && until < today)
      untrue.push({ id, fault: 'expired', text: `it counted until ${until}: mend the agent, or give it a later day` })
    else if (now?.verdict === verdict) excused.set(id, why)
    else if (now && isTold(now.verdict) && !(isPartial && isUntried(now.verdict)))
      untrue.push({ id, fault: 'stale', text: staleWords(verdict, now.verdict) })
  }
  return { excused, untrue }
}

/** Nothing was learned of a check that is inconclusive. */
const isTold = (verdict: Verdict) => verdict !== 'inconclusive'
export const isUntried = (verdict: Verdict) => verdict === 'untested' || verdict === 'behind'

const staleWords = (then: Verdict, now: Verdict) =>
  `it says ${then}, and now it is ${now}: ${now === 'pass' ? 'take the line out' : 'change the line'}`

/**
 * Returns the lines that would excuse all that there is to excuse. What is there keeps its reason, and the line of a check of which nothing
 * was told stays. A day that is over is left out: it would excuse nothing. `today` and `known` as above.
 */
export function baselineOf(
  judged: readonly Judged[],
  before: Baseline,
  { today, known }: { today: string; known: readonly string[] },
): Baseline {
  const told = judged.filter(({ verdict }) => isTold(verdict))
  const kept = Object.entries(before).filter(([id]) => known.includes(id) && !told.some(one => one.id === id))
  const excuses = told.flatMap(({ id, verdict, level }): [string, Excuse][] => {
    if (verdict === 'pass' || verdict === 'inconclusive' || (isUntried(verdict) && level !== 'must')) return []
    const { why = 'say why', until } = before[id]?.verdict === verdict ? before[id] : {}
    return [[id, { verdict, why, ...(until !== undefined && until >= today && { until }) }]]
  })
  return Object.fromEntries([...kept, ...excuses].sort(([one], [other]) => (one < other ? -1 : 1)))
}
