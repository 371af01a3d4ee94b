/** For a workflow of GitHub: annotations of what breaks it, and a page for the summary of the step. */
import type { History } from '../history/history.ts'
import { type Asked, isBroken, type Report, type ReportedCheck } from '../judging/report.ts'
import { againLine, areaOf, behindOf, evidenceLines, goWithIt, inOrder, seen, totals } from './findings.ts'
import { deathInWords, lastWordsOf, runTests, timeOverIn } from './run-tests.ts'
import { verdictOf } from './verdict.ts'

/** More annotations of one step are not shown. */
const MOST_ANNOTATIONS = 10

/** Lines that a runner reads from the output of a step. */
export function annotations(report: Report, history: History): string {
  const ofRun = runTests(report, history).filter(one => one.isBroken)
  const broken = inOrder(report).filter(isBroken)
  return [
    ...ofRun.map(({ headline, details }) => error(headline, details)),
    ...broken.map(check =>
      error(`${check.id}: ${check.title}`, [seen(check), ...goWithIt(behindOf(report, check)), check.fix].join('. ')),
    ),
  ]
    .slice(0, MOST_ANNOTATIONS)
    .join('')
}

const error = (title: string, text: string) => `::error title=${property(title)}::${data(text)}\n`

const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** A step's summary takes 1 MiB. */
const MOST_BYTES = 1_000_000

/** Markdown. */
export function githubSummary(report: Report, history: History, asked?: Asked): string {
  const { word, sentence } = verdictOf(report, asked)
  const checks = inOrder(report)
  const wrong = checks.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
  const rest = checks.filter(one => one.verdict !== 'pass' && !wrong.includes(one))
  const timeOver = timeOverIn(report, history)
  const page = [
    `## Conformance: ${word}`,
    cell(sentence),
    '',
    totals(report),
    ...report.deaths.flatMap(death => ['', `❌ ${cell(deathInWords(death, history))}.`, ...fenced(lastWordsOf(death))]),
    ...(timeOver === null ? [] : ['', `❌ ${cell(timeOver)}.`]),
    ...causeList(report),
    ...areaTable(checks),
    ...wrong.map(check => section(report, check, history)),
    ...(rest.length === 0 ? [] : ['', '| not judged | why |', '|---|---|', ...rest.map(row)]),
    '',
  ].join('\n')
  if (Buffer.byteLength(page) <= MOST_BYTES) return page
  const cut = Buffer.from(page).subarray(0, MOST_BYTES).toString()
  return cut.slice(0, cut.lastIndexOf('\n') + 1)
}

const causeList = ({ causes }: Report): string[] =>
  causes.length === 0
    ? []
    : [
        '',
        'Mend in this order:',
        '',
        ...causes.map(({ id, behind }, at) => `${at + 1}. ${cell([id, ...goWithIt(behind)].join('. '))}`),
      ]

function areaTable(checks: readonly ReportedCheck[]): string[] {
  const areas = [...new Set(checks.map(areaOf))]
  const count = (area: string, verdict: string) =>
    checks.filter(check => areaOf(check) === area && check.verdict === verdict).length || ''
  const columns = ['pass', 'fail', 'warn', 'behind', 'untested', 'inconclusive']
  return [
    '',
    `| | ${columns.join(' | ')} |`,
    `|---|${columns.map(() => '--:|').join('')}`,
    ...areas.map(area => `| ${area} | ${columns.map(verdict => count(area, verdict)).join(' | ')} |`),
  ]
}

const row = (check: ReportedCheck) => `| ${check.id} | ${cell(seen(check))} |`

function section(report: Report, check: ReportedCheck, history: History): string {
  const { id, title, level, law, fix } = check
  return [
    '',
    `### ${isBroken(check) ? '❌' : '⚠️'} ${id} (${level})`,
    `A right agent ${cell(title)}. Seen: ${cell(seen(check))}.`,
    '',
    ...fenced(evidenceLines(check, history)),
    `> ${law.source}: ${cell(law.quote)}`,
    '',
    fix,
    '',
    ...fenced([againLine(report, id)]),
  ].join('\n')
}

/** A fence that is longer than any within. */
function fenced(lines: readonly string[]): string[] {
  if (lines.length === 0) return []
  const longest = Math.max(2, ...lines.flatMap(line => [...line.matchAll(/`+/g)].map(([ticks]) => ticks.length)))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}text`, ...lines, fence, '']
}

/** Text of an agent must not become markup. */
const cell = (text: string) => text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>|#]/g, sign => `\\${sign}`)
