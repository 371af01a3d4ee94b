/** The report for people: what is wrong first, with what was seen, the rule, the cure and the line that plays it again. */
import type { History } from '../../conform/history/history.ts'
import { ENDED } from '../../conform/judging/deaths.ts'
import type { Asked, Report, ReportedCheck, ReportedDeath } from '../../conform/judging/report.ts'
import { areaOf, behindOf, eventLine, inOrder, totals } from '../../conform/reports/findings.ts'
import { deathInWords, lastWordsOf, timeOverIn } from '../../conform/reports/run-tests.ts'
import { verdictOf } from '../../conform/reports/verdict.ts'
import { commandLine, paragraph, plain, type Ui } from '../output/ui.ts'

const MOST_EVIDENCE = 4

/** `again`: the command line that plays one check again. */
export function showReport(
  ui: Ui,
  {
    report,
    history,
    asked,
  }: { readonly report: Report; readonly history: History; readonly asked?: Asked | undefined },
  again: (id: string) => string,
): void {
  const { green, red, yellow, bold, dim } = ui.colour
  const those = (verdict: ReportedCheck['verdict']) => inOrder(report).filter(one => one.verdict === verdict)
  for (const death of report.deaths) showDeath(ui, death, history)
  const timeOver = timeOverIn(report, history)
  if (timeOver !== null) paragraph(ui, `${red('✖')} `, `${plain(timeOver)}.`)
  const broken = [...those('fail'), ...those('warn')]
  for (const check of broken) if (check.excused === null) showBroken(ui, check, { report, history }, again)
  for (const { id, verdict, excused } of broken)
    if (excused !== null) paragraph(ui, dim('- '), `${id}: ${verdict}, excused: ${plain(excused)}`, dim)
  const told = report.causes.flatMap(({ id, behind }) => (id === ENDED ? [] : behind))
  const isOpen = ({ id }: ReportedCheck) => !told.includes(id)
  showTogether(ui, '·', those('behind').filter(isOpen))
  showTogether(ui, '?', those('inconclusive'))
  showTogether(ui, '·', those('untested'))
  for (const { id, text } of those('pass')) if (text !== '') paragraph(ui, '  ', `${id}: ${plain(text)}`, dim)
  const areas = countsByArea(those('pass'))
  if (areas.length > 0) paragraph(ui, `${green('✔')} `, areas.join(' · '))
  for (const { id, text } of report.baseline) paragraph(ui, `${red('✖')} `, `baseline: ${plain(id)}: ${plain(text)}`)
  for (const declared of report.declared) paragraph(ui, '  ', `declared: ${plain(declared)}`, dim)
  ui.line(totals(report))
  const { outcome, word, sentence } = verdictOf(report, asked)
  const colour = { good: green, bad: red, unsure: yellow }[outcome]
  paragraph(ui, '', `${word}: ${sentence}`, row => bold(row.replace(word, colour(word))))
}

/** Before all else, as it may be why the rest is as it is. */
function showDeath(ui: Ui, death: ReportedDeath, history: History): void {
  const { red, dim } = ui.colour
  paragraph(ui, `${red('✖')} `, plain(deathInWords(death, history)))
  for (const words of lastWordsOf(death)) paragraph(ui, dim('    | '), plain(words), dim)
}

function showBroken(
  ui: Ui,
  check: ReportedCheck,
  { report, history }: { readonly report: Report; readonly history: History },
  again: (id: string) => string,
): void {
  const { id, title, level, verdict, text, fix, law, evidence, scored } = check
  const { red, yellow, bold, dim, cyan } = ui.colour
  const mark = verdict === 'fail' ? red('✖') : yellow('!')
  const aside = scored ? '' : ' (not scored: added later)'
  paragraph(ui, `${mark} `, `${id}  ${level}: ${title}${aside}`, row => row.replace(id, bold(id)))
  paragraph(ui, '    seen  ', `the agent ${plain(text)}`)
  for (const seq of evidence.slice(0, MOST_EVIDENCE)) {
    const event = history.events.find(one => one.seq === seq)
    const line = event && plain(eventLine(event))
    // Its first two letters say which way it went.
    if (line) paragraph(ui, dim(' '.repeat(10) + line.slice(0, 2)), line.slice(2), dim)
  }
  const behind = behindOf(report, check)
  if (behind.length > 0) paragraph(ui, dim('    with  '), `these go with it: ${behind.join(' ')}`, dim)
  paragraph(ui, '    rule  ', `${law.source}: “${law.quote}”`)
  paragraph(ui, '    cure  ', fix)
  commandLine(ui, '    again', plain(again(id)), cyan)
}

/** Those with the same reason are one line. */
function showTogether(ui: Ui, mark: string, checks: readonly ReportedCheck[]): void {
  const { dim } = ui.colour
  for (const [reason, those] of byReason(checks))
    paragraph(ui, dim(`${mark} `), `${named(those)}: ${plain(reason)}`, dim)
}

/** Of more, a reader looks for none by its name. */
const MOST_NAMED = 16

function named(checks: readonly ReportedCheck[]): string {
  if (checks.length <= MOST_NAMED) return checks.map(({ id }) => id).join(' ')
  const areas = countsByArea(checks)
  return `${checks.length} checks ${areas.length === 1 ? `of ${areaOf(checks[0]!)}` : `(${areas.join(' · ')})`}`
}

function byReason(checks: readonly ReportedCheck[]): Map<string, ReportedCheck[]> {
  const groups = new Map<string, ReportedCheck[]>()
  for (const check of checks) groups.set(check.text, [...(groups.get(check.text) ?? []), check])
  return groups
}

function countsByArea(checks: readonly ReportedCheck[]): string[] {
  const counts = new Map<string, number>()
  for (const check of checks) counts.set(areaOf(check), (counts.get(areaOf(check)) ?? 0) + 1)
  return [...counts].map(([area, count]) => `${area} ${count}`)
}
