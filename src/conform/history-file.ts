/** A history as lines of JSON, so that a run can be judged again without the agent. */
import { History, type Recorded } from './history.ts'

export const historyLines = ({ events }: History): string => events.map(event => `${JSON.stringify(event)}\n`).join('')

/** Throws an Error that says in which line it is none. */
export function historyOf(lines: string): History {
  const events = lines
    .split('\n')
    .filter(line => line !== '')
    .map((line, at): Recorded => {
      try {
        return JSON.parse(line)
      } catch {
        throw new Error(`line ${at + 1} is no JSON`)
      }
    })
  const [begin] = events
  if (begin?.kind !== 'begin' || begin.schema !== 'conformance-history/1')
    throw new Error('it does not begin as a history of conformance does')
  return new History(events)
}
