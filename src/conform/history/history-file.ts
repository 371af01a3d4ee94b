/** A history as lines of JSON, so that a run can be judged again without the agent. */
import { History, type Recorded, type Recordeds } from './history.ts'

export const historyLines = ({ events }: History): string => events.map(event => `${JSON.stringify(event)}\n`).join('')

/** The form that this version writes and reads. Another number is another form. */
const SCHEMA: Recordeds<'begin'>['schema'] = 'conformance-history/1'

/** Throws an Error that says in which line it is none. A file that ends within a line is the history before that line. */
export function historyOf(text: string): History {
  const lines = text.split('\n').filter(line => line !== '')
  if (!text.endsWith('\n') && lines.length > 1 && isCut(lines.at(-1)!)) lines.pop()
  const events = lines.map((line, at) => eventIn(line, at + 1))
  const [begin] = events
  if (begin?.kind !== 'begin') throw new Error('it does not begin as a history of conformance does')
  if (begin.schema !== SCHEMA)
    throw new Error(
      `it has the form ${told(begin.schema)}, and this version reads ${SCHEMA}; judge it with the version that has saved it, ${told(begin.version)}`,
    )
  return new History(events)
}

function isCut(line: string): boolean {
  try {
    JSON.parse(line)
    return false
  } catch {
    return true
  }
}

function eventIn(line: string, number: number): Recorded {
  let event: unknown
  try {
    event = JSON.parse(line)
  } catch {
    throw new Error(`line ${number} is no JSON`)
  }
  if (typeof (event as Recorded | null)?.kind !== 'string') throw new Error(`line ${number} is no event`)
  return event as Recorded
}

/** The file may be of anybody. */
const told = (value: unknown) =>
  String(value)
    .replace(/[^\w./-]/g, ' ')
    .slice(0, 40)
