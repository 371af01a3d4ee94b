/** What every report says of one check, in words. */

import { plainShellWord } from '../../api/command-line.ts'
import { bytesOf, type History, type Recorded, type Recordeds } from '../history/history.ts'
import type { Report, ReportedCheck } from '../judging/report.ts'

export const PACKAGE = 'agent-marketplace'

export const areaOf = ({ id }: ReportedCheck): string => id.split('.', 1)[0]!

/** Causes first, in the order in which to mend them. */
export function inOrder({ causes, checks }: Report): ReportedCheck[] {
  const first = causes.flatMap(({ id }) => checks.find(one => one.id === id) ?? [])
  return [...first, ...checks.filter(one => !first.includes(one))]
}

/** Ids of the checks that were not judged because of this one. */
export const behindOf = ({ causes }: Report, { id }: ReportedCheck): readonly string[] =>
  causes.find(one => one.id === id)?.behind ?? []

/** What was seen, in one sentence without a full stop. */
export function seen({ verdict, text, excused, scored }: ReportedCheck): string {
  if (verdict === 'untested' || verdict === 'behind') return `${verdict}: ${text}`
  if (verdict === 'inconclusive') return `nothing could be told: ${text}`
  if (verdict === 'pass') return text
  const aside = excused !== null ? ` (excused: ${excused})` : scored ? '' : ' (not scored: added later)'
  return `the agent ${text}${aside}`
}

export const goWithIt = (ids: readonly string[]): string[] =>
  ids.length === 0 ? [] : [`These go with it: ${ids.join(', ')}`]

const MOST_EVENTS = 12

/** What shows it, a line for each event. */
export const evidenceLines = ({ evidence }: ReportedCheck, { events }: History): string[] =>
  evidence.slice(0, MOST_EVENTS).flatMap(seq => events.filter(event => event.seq === seq).map(eventLine))

/** Everything that helps its author, a paragraph for each. */
export const details = (check: ReportedCheck, history: History, report: Report): string =>
  [
    `Seen: ${seen(check)}`,
    ...goWithIt(behindOf(report, check)),
    ...evidenceLines(check, history),
    `Rule (${check.law.source}): ${check.law.quote}`,
    `Why: ${check.why}`,
    `Cure: ${check.fix}`,
  ].join('\n')

/** The agent, for people. */
export const agentInWords = ({ agent: { url, command, listed } }: Report): string =>
  listed ? `${listed.slug} at ${listed.marketplace}` : (command ?? url)

/** The line that plays one check again. */
export function againLine({ agent, seed, bought }: Report, id: string, program = 'npx agent-marketplace'): string {
  const { url, command, listed } = agent
  const where = listed
    ? [
        '--agent',
        listed.slug,
        '--url',
        listed.marketplace,
        ...(bought ? ['--spend', (bought.limit / 100).toFixed(2)] : []),
      ]
    : command === null
      ? ['--url', url]
      : ['--start', command]
  return [`${program} conformance`, ...where.map(plainShellWord), `--seed ${seed}`, `--only ${id}`].join(' ')
}

/** How many of the checks that could be judged are as they should be, by level. */
export function totals({ causes, summary }: Report): string {
  const { must, should } = summary.levels
  const of = ({ pass, fail, warn }: typeof must) => `${pass}/${pass + fail + warn}`
  const rest = [
    summary.behind > 0 && behindInWords(causes, summary.behind),
    summary.untested > 0 && `${summary.untested} untested`,
    summary.inconclusive > 0 && `${summary.inconclusive} inconclusive`,
  ].filter(Boolean)
  return [`must ${of(must)}`, `should ${of(should)}`, ...rest].join(' · ')
}

/** What is behind a should, or behind what is excused or not shown, has no cause here. */
function behindInWords(causes: Report['causes'], all: number): string {
  const those = causes.reduce((sum, { behind }) => sum + behind.length, 0)
  const count = `${causes.length} ${causes.length === 1 ? 'cause' : 'causes'}`
  const ofCauses = those > 0 && `${count}, ${those} behind ${causes.length === 1 ? 'it' : 'them'}`
  return [ofCauses, all > those && `${all - those} behind others`].filter(Boolean).join(' · ')
}

/** `→` goes to the agent, `←` comes from it. */
export function eventLine(event: Recorded): string {
  switch (event.kind) {
    case 'webhook': {
      const came = event.answer ? `${event.answer.status}` : `no answer: ${event.error}`
      return `→ ${webhookInWords(event)}: ${came} in ${event.ms} ms`
    }
    case 'callback': {
      const { action, answer, fault } = event
      const told = fault ? `${fault.name}, told ${fault.status ?? 'nothing'}` : `${answer?.status ?? 'nothing'}`
      const said = answer && answer.status >= 400 ? ` ${beginning(bytesOf(answer.body).toString())}` : ''
      return `← ${action}: ${told}${said}`
    }
    case 'step':
      return `  the task is ${event.to} (${event.trigger})`
    case 'money':
      return `  ${event.amount} cents, ${event.move}: ${event.from} → ${event.to}`
    case 'task':
      return `  ${event.label} is ${event.taskId}, for ${event.price} cents`
    case 'observation':
      return `  ${event.label}: ${beginning(JSON.stringify(event.value))}`
    case 'process':
      return `  the agent's process: ${event.what} ${event.text}`
    case 'request':
      return `← ${event.method} ${event.path}: ${event.status ?? 'nothing'}`
    case 'scenario':
      return `  “${event.scenario}” is ${event.outcome}${event.why && `: ${event.why}`}`
    case 'unused':
      return `  the fault ${event.fault} met nothing`
    case 'stall':
      return `  the machine held up the run for ${event.run} ms and the agent for ${event.agent} ms`
    case 'quiet':
      return `  nothing was sent for ${event.ms} ms`
    case 'purchases':
      return `  tasks that were bought: ${event.tasks.length}, for ${event.spent} cents, and ${event.held} held`
    case 'begin':
      return `  the run begins, with seed ${event.seed}`
    case 'end':
      return `  the run ends`
  }
}

export const webhookInWords = ({ event, method, change }: Recordeds<'webhook'>): string =>
  [event ?? method, change && `(${change})`].filter(Boolean).join(' ')

const MOST = 160
const beginning = (text: string) => (text.length > MOST ? `${text.slice(0, MOST)}…` : text)
