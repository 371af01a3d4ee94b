/** That the time of a run was over before it was done, in words. */
import type { History } from '../history/history.ts'
import type { Report } from '../judging/report.ts'
import { slownessInWords } from '../judging/slowness.ts'
import { cutOffInWords, typed } from '../judging/time-limit.ts'

/** Whole sentences without the last full stop; null: it was not. */
export function timeOverIn({ limitMs, checks }: Report, history: History): string | null {
  if (limitMs === null) return null
  const reason = cutOffInWords({ limitMs })
  const count = checks.filter(({ verdict, text }) => verdict === 'inconclusive' && text === reason).length
  const open = `${count} ${count === 1 ? 'check is' : 'checks are'} inconclusive`
  return [
    `The run was ended after ${typed(limitMs)}, as its time was over: ${open}`,
    ...slownessInWords(history),
    `--timeout ${typed(2 * limitMs)} gives it more time`,
  ].join('. ')
}
