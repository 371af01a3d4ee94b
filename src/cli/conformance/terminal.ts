/** The report for people: what is wrong first, with what was seen, the rule, the cure and the line that plays it again. */
import type { History } from '../../conform/history.ts'
import type { Report, ReportedCheck } from '../../conform/report.ts'
import { totals } from '../../conform/reports/findings.ts'
import { eventLine } from '../../conform/reports/words.ts'
import { plain, type Ui } from '../output/ui.ts'

const MOST_EVIDENCE = 4

/** `again`: the command line that plays one check again. */
export function showReport(ui: Ui, report: Report, history: History, again: (id: string) => string): void {
  const { checks } = report
  const those = (verdict: ReportedCheck['verdict']) => checks.filter(one => one.verdict === verdict)
  for (const check of [...those('fail'), ...those('warn')]) showBroken(ui, check, history, again)
  showTogether(ui, '?', those('inconclusive'))
  showTogether(ui, '·', those('untested'))
  for (const { title, text } of those('pass').filter(({ text }) => text !== ''))
    ui.line(ui.colour.dim(`  ${title}: ${plain(text)}`))
  showAreas(ui, those('pass'))
  for (const { id, text } of report.baseline) ui.line(`${ui.colour.red('✖')} baseline: ${id}: ${text}`)
  for (const declared of report.declared) ui.line(ui.colour.dim(`  declared: ${declared}`))
  ui.line(totals(report))
}

function showBroken(ui: Ui, check: ReportedCheck, history: History, again: (id: string) => string): void {
  const { id, title, verdict, text, fix, law, evidence, scored, excused } = check
  const { red, yellow, bold, dim } = ui.colour
  const mark = verdict === 'fail' ? red('✖') : yellow('!')
  const aside = excused !== null ? ` (excused: ${excused})` : scored ? '' : ' (not scored: added later)'
  ui.line(`${mark} ${bold(id)}  ${verdict === 'fail' ? 'must' : 'should'}: ${title}${aside}`)
  ui.line(`    seen  the agent ${plain(text)}`)
  for (const seq of evidence.slice(0, MOST_EVIDENCE)) {
    const event = history.events.find(one => one.seq === seq)
    if (event) ui.line(dim(`          ${plain(eventLine(event))}`))
  }
  ui.line(`    rule  ${law.source}: “${law.quote}”`)
  ui.line(`    cure  ${fix}`)
  ui.line(dim(`    again ${again(id)}`))
}

/** Those with the same reason are one line. */
function showTogether(ui: Ui, mark: string, checks: readonly ReportedCheck[]): void {
  for (const [reason, those] of byReason(checks))
    ui.line(ui.colour.dim(`${mark} ${those.map(({ id }) => id).join(' ')}: ${plain(reason)}`))
}

function byReason(checks: readonly ReportedCheck[]): Map<string, ReportedCheck[]> {
  const groups = new Map<string, ReportedCheck[]>()
  for (const check of checks) groups.set(check.text, [...(groups.get(check.text) ?? []), check])
  return groups
}

function showAreas(ui: Ui, passed: readonly ReportedCheck[]): void {
  const counts = new Map<string, number>()
  for (const { id } of passed) {
    const area = id.split('.', 1)[0]!
    counts.set(area, (counts.get(area) ?? 0) + 1)
  }
  const words = [...counts].map(([area, count]) => `${area} ${count}`)
  if (words.length > 0) ui.line(`${ui.colour.green('✔')} ${words.join(' · ')}`)
}
