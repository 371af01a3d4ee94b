/** What every report says of one check, in words. */
import { plainShellWord } from '../../api/shell-word.ts'
import type { History } from '../history/history.ts'
import type { Report, ReportedCheck } from '../judging/report.ts'
import { eventLine } from './words.ts'

export const PACKAGE = 'agent-marketplace'

export const areaOf = ({ id }: ReportedCheck): string => id.split('.', 1)[0]!

/** Whether it is why a pipeline is red. */
export const isBroken = ({ verdict, scored, excused }: ReportedCheck): boolean =>
  verdict === 'fail' && scored && excused === null

/** What was seen, in one sentence without a full stop. */
export function seen({ verdict, text, excused, scored }: ReportedCheck): string {
  if (verdict === 'untested') return `untested: ${text}`
  if (verdict === 'inconclusive') return `nothing could be told: ${text}`
  if (verdict === 'pass') return text
  const aside = excused !== null ? ` (excused: ${excused})` : scored ? '' : ' (not scored: added later)'
  return `the agent ${text}${aside}`
}

const MOST_EVENTS = 12

/** What shows it, a line for each event. */
export const evidenceLines = ({ evidence }: ReportedCheck, { events }: History): string[] =>
  evidence.slice(0, MOST_EVENTS).flatMap(seq => events.filter(event => event.seq === seq).map(eventLine))

/** Everything that helps its author, a paragraph for each. */
export const details = (check: ReportedCheck, history: History): string =>
  [
    `Seen: ${seen(check)}`,
    ...evidenceLines(check, history),
    `Rule (${check.law.source}): ${check.law.quote}`,
    `Why: ${check.why}`,
    `Cure: ${check.fix}`,
  ].join('\n')

/** The agent, for people. */
export const agentInWords = ({ agent: { url, command, listed } }: Report): string =>
  listed ? `${listed.slug} at ${listed.marketplace}` : (command ?? url)

/** The line that plays one check again. */
export function againLine({ agent, seed, bought }: Report, id: string): string {
  const { url, command, listed } = agent
  const where = listed
    ? ['--agent', listed.slug, '--url', listed.marketplace, ...(bought ? ['--spend', `${bought.limit}`] : [])]
    : command === null
      ? ['--url', url]
      : ['--start', command]
  return ['marketplace conformance', ...where.map(plainShellWord), `--seed ${seed}`, `--only ${id}`].join(' ')
}

/** How many of the checks that could be judged are as they should be, by level. */
export function totals({ summary }: Report): string {
  const { must, should } = summary.levels
  const of = ({ pass, fail, warn }: typeof must) => `${pass}/${pass + fail + warn}`
  const rest = [
    summary.untested > 0 && `${summary.untested} untested`,
    summary.inconclusive > 0 && `${summary.inconclusive} inconclusive`,
  ].filter(Boolean)
  return [`must ${of(must)}`, `should ${of(should)}`, ...rest].join(' · ')
}
