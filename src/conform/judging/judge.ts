/** Judges a history: the same events always get the same verdicts. Source: A-46. */

import type { History } from '../history/history.ts'
import { behind, type Check, type Finding, inconclusive, type Level, leftOut, untested } from './check.ts'
import { unlessDead } from './deaths.ts'
import { unlessBusy, withoutRepeats } from './heard-webhooks.ts'
import { unlessSilent } from './silence.ts'
import { cutOffInWords, notPlayedInWords, unlessCutOff } from './time-limit.ts'

export const verdicts = ['pass', 'fail', 'warn', 'behind', 'untested', 'inconclusive'] as const
export type Verdict = (typeof verdicts)[number]

export interface Judged {
  readonly id: string
  readonly title: string
  readonly level: Level
  readonly verdict: Verdict
  /** What was seen, or why nothing was; empty for most that pass. */
  readonly text: string
  /** Numbers of the events that show it. */
  readonly evidence: readonly number[]
  /** It is untested because the author has declared so, or has declared nothing that could be tried. */
  readonly byDeclaration: boolean
  /** Id of the check that is broken first, or `agent.ended`, if it was not judged because of that; else null. */
  readonly behind: string | null
}

/** Judges every check, in the order given. `shown`: those that somebody gets to see. A fault stands behind another only if that is seen. */
export function judge(checks: readonly Check[], whole: History, shown: readonly Check[] = checks): Judged[] {
  const history = withoutRepeats(whole)
  const end = history.of('end')[0]
  const timeOver = end?.limitMs === undefined ? null : cutOffInWords(end)
  const findings = new Map<string, Finding>()
  const reasons = new Map<string, string>()
  const byId = new Map(checks.map(check => [check.id, check]))
  const findingOf = (check: Check): Finding => {
    const known = findings.get(check.id)
    if (known) return known
    const blocker = before(check).find(one => findingOf(one).holds !== true)
    const own = found(check, history, whole, checks)
    // What was seen counts, unless it may come of another fault that has its own line.
    const finding = blocker && !(own.holds === false && !followsFault(check)) ? blockedBy(check, blocker) : own
    findings.set(check.id, finding)
    return finding
  }
  /** The reason is what is broken first, however long the row of checks that wait for it. */
  const blockedBy = ({ id }: Check, blocker: Check): Finding => {
    const finding = findingOf(blocker)
    if ('inconclusive' in finding)
      return finding.inconclusive === timeOver
        ? finding
        : inconclusive(`blocked by ${blocker.id}, of which nothing could be told`)
    if (finding.holds === false) return behind(blocker.id, `after ${blocker.id} failed`)
    if ('behind' in finding) return finding
    const why = reasons.get(blocker.id) ?? `blocked by ${blocker.id}`
    reasons.set(id, why)
    return 'byDeclaration' in finding && finding.byDeclaration ? leftOut(why) : untested(why)
  }
  const before = ({ after = [] }: Check) => after.flatMap(id => byId.get(id) ?? [])
  const followsFault = (check: Check): boolean =>
    before(check).some(one => (findingOf(one).holds === false && shown.includes(one)) || followsFault(one))
  return checks.map(check => judgedAs(check, findingOf(check)))
}

const found = (check: Check, history: History, whole: History, all: readonly Check[]): Finding => {
  const finding = unlessDead(foundIn(check, history), check, whole, all)
  return unlessCutOff(unlessSilent(finding, check, whole), check, history)
}

/** A fault that was seen is one: before its scenario has ended, and in others if that was skipped. */
function foundIn(check: Check, history: History): Finding {
  const finding = judged(check, history)
  if (finding.holds === false) return finding
  const ended = history.of('scenario').find(({ scenario }) => scenario === check.scenario)
  if (ended?.outcome === 'skipped') return ended.byDeclaration ? leftOut(ended.why) : untested(ended.why)
  if (ended === undefined) return inconclusive(notPlayedInWords(history.of('end')[0]))
  if (ended.outcome === 'failed') return inconclusive(ended.why)
  const unused = history.of('unused').find(({ label }) => label === check.id || label.startsWith(`${check.id}/`))
  if (unused && finding.holds) return inconclusive(`the fault ${unused.fault} met nothing`)
  return finding
}

function judged(check: Check, history: History): Finding {
  try {
    return unlessBusy(check.judge(history), history, check.id)
  } catch (error) {
    return inconclusive(`the check itself failed: ${(error as Error).message}`)
  }
}

function judgedAs({ id, title, level }: Check, finding: Finding): Judged {
  const told = { id, title, level, byDeclaration: false, behind: null }
  if (finding.holds === true) return { ...told, verdict: 'pass', text: finding.note ?? '', evidence: [] }
  if (finding.holds === false) {
    const { text, evidence } = finding
    return { ...told, verdict: broken[level], text, evidence }
  }
  if ('untested' in finding) {
    const { untested: text, byDeclaration = false } = finding
    const cause = finding.behind ?? null
    return { ...told, verdict: cause ? 'behind' : 'untested', text, evidence: [], byDeclaration, behind: cause }
  }
  return { ...told, verdict: 'inconclusive', text: finding.inconclusive, evidence: [] }
}

/** What `may` be done otherwise is only told. */
const broken: Readonly<Record<Level, Verdict>> = { must: 'fail', should: 'warn', may: 'pass' }
