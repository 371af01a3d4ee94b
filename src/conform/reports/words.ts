/** One event of a history in one line, for every report. */
import { bytesOf, type Recorded, type Recordeds } from '../history/history.ts'

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
    case 'quiet':
      return `  nothing was sent for ${event.ms} ms`
    case 'purchases':
      return `  ${event.tasks.length} tasks were bought: ${event.spent} cents spent, ${event.held} held`
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
