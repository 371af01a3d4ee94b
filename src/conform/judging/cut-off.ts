/** A run that was interrupted waits for nothing more: what the agent still owed then says nothing of it. */

import type { History } from '../history/history.ts'
import { type Check, type Finding, inconclusive } from './check.ts'
import { isDeed } from './deaths.ts'
import { cutOffInWords } from './time-limit.ts'

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
