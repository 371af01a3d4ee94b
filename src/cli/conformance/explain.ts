/** What the checks are: all in short, or one in full. */

import { bytesOf, type Content, type History, type Recorded } from '../../conform/history/history.ts'
import type { Check } from '../../conform/judging/check.ts'
import { judge, type Verdict } from '../../conform/judging/judge.ts'
import { withPrerequisites } from '../../conform/judging/selection.ts'
import { censusOf } from '../../conform/listed-agent/checks.ts'
import { eventLine } from '../../conform/reports/findings.ts'
import type { HeaderLines } from '../../world/header-lines.ts'
import { nextSteps } from '../connection/next-steps.ts'
import type { CommandOutput } from '../output/output.ts'
import { commandLine, paragraph, plain, type Ui } from '../output/ui.ts'

type Answering = Pick<CommandOutput, 'out' | 'answer'>

const aboutOf = ({ id, title, level, law, why, fix, after = [] }: Check) => ({ id, title, level, law, why, fix, after })

export function list({ out, answer }: Answering, checks: readonly Check[]): number {
  const longest = Math.max(...checks.map(({ id }) => id.length))
  return answer({ items: checks.map(aboutOf) }, () => {
    for (const { id, level, title } of checks) paragraph(out, `${id.padEnd(longest)}  ${level.padEnd(6)}  `, title)
  })
}

/** `history`: what to show of it; null: there is none. */
export function explain({ out, answer }: Answering, check: Check, history: History | null = null): number {
  const { id, title, level, law, why, fix, after = [] } = check
  const seen = history && seenIn(history, check)
  return answer({ ...aboutOf(check), ...seen }, () => {
    paragraph(out, '', `${id}  ${level}: ${title}`, row => row.replace(id, out.colour.bold(id)))
    paragraph(out, '  rule  ', `${law.source}: “${law.quote}”`)
    paragraph(out, '  why   ', why)
    paragraph(out, '  cure  ', fix)
    if (after.length > 0) paragraph(out, '  after ', after.join(', '))
    if (seen) return showSeen(out, seen)
    commandLine(out, '  try  ', nextSteps.judge(id))
  })
}

interface Seen {
  readonly verdict: Verdict
  /** What was seen, or why nothing was. */
  readonly text: string
  readonly events: readonly Recorded[]
}

/** null: the check was not played. */
function seenIn(history: History, { id }: Check): Seen | null {
  const census = censusOf(history)
  const some = census.filter(check => check.id === id)
  const played = history.of('scenario').map(({ scenario }) => scenario)
  if (!some.some(({ scenario }) => played.includes(scenario))) return null
  const { verdict, text, evidence } = judge(withPrerequisites(census, some), history, some).find(one => one.id === id)!
  return { verdict, text, events: history.events.filter(({ seq }) => evidence.includes(seq)) }
}

const MOST_EVENTS = 4

function showSeen(ui: Ui, { verdict, text, events }: Seen): void {
  const words = verdict === 'fail' || verdict === 'warn' ? `the agent ${text}` : text
  paragraph(ui, '  seen  ', [verdict, plain(words)].filter(Boolean).join(': '))
  for (const event of events.slice(0, MOST_EVENTS)) {
    ui.line(`\n${plain(eventLine(event))}`)
    for (const line of linesOf(event)) ui.raw(`  ${plain(line)}`)
  }
}

/** As they went over the wire: they are never wrapped. */
export function linesOf(event: Recorded): string[] {
  if (event.kind !== 'webhook' && event.kind !== 'callback') return []
  const { method, headers, body, answer } = event
  const head = `${method} ${event.kind === 'webhook' ? event.url : event.path}`
  const reply = answer ? ['', `${answer.status}`, ...messageLines(answer.headers, answer.body)] : []
  return [head, ...messageLines(headers, body), ...reply]
}

const messageLines = (headers: HeaderLines, body: Content) => [
  ...headers.map(([name, value]) => `${name}: ${value}`),
  ...(body.size > 0 ? ['', ...bodyText(body).split('\n')] : []),
]

const MOST_LETTERS = 2_000

function bodyText(content: Content): string {
  const text = content.text ?? bytesOf(content).toString('hex')
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}… (${content.size} bytes)` : text
}
