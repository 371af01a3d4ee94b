/** What a kept history shows of one check: its verdict, and the requests that decided about it, byte for byte. */

import { bytesOf, type Content, type History, type Recorded } from '../../conform/history/history.ts'
import type { Check } from '../../conform/judging/check.ts'
import { judge, type Verdict } from '../../conform/judging/judge.ts'
import { withPrerequisites } from '../../conform/judging/selection.ts'
import { censusOf } from '../../conform/listed-agent/checks.ts'
import { eventLine } from '../../conform/reports/words.ts'
import type { HeaderLines } from '../../world/header-lines.ts'
import { paragraph } from '../output/paragraph.ts'
import { plain, type Ui } from '../output/ui.ts'

interface Seen {
  readonly verdict: Verdict
  /** What was seen, or why nothing was. */
  readonly text: string
  readonly events: readonly Recorded[]
}

/** null: the check was not played. */
export function seenIn(history: History, { id }: Check): Seen | null {
  const census = censusOf(history)
  const some = census.filter(check => check.id === id)
  const played = history.of('scenario').map(({ scenario }) => scenario)
  if (!some.some(({ scenario }) => played.includes(scenario))) return null
  const { verdict, text, evidence } = judge(withPrerequisites(census, some), history, some).find(one => one.id === id)!
  return { verdict, text, events: history.events.filter(({ seq }) => evidence.includes(seq)) }
}

const MOST_EVENTS = 4

export function showSeen(ui: Ui, { verdict, text, events }: Seen): void {
  const words = verdict === 'fail' || verdict === 'warn' ? `the agent ${text}` : text
  paragraph(ui, '  seen  ', [verdict, plain(words)].filter(Boolean).join(': '))
  for (const event of events.slice(0, MOST_EVENTS)) {
    ui.line(`\n${plain(eventLine(event))}`)
    for (const line of linesOf(event)) ui.raw(`  ${plain(line)}`)
  }
}

/** As they went over the wire: they are never wrapped. */
function linesOf(event: Recorded): string[] {
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
