/** What agents that are down on purpose do is no failure for whoever reads the log: it is said once that they are. Source: A-281. */
import type { StampedEntry } from '../../market/log.ts'
import { type EntryLine, usual } from './entry-lines.ts'

/** Whether an entry tells no more than that such an agent did not answer. */
export const isOfPurpose = (entry: StampedEntry): boolean =>
  'diagnosis' in entry && entry.diagnosis?.cause === 'down_on_purpose'

/** Short, so that it is one row beside a long name. */
const WHY = 'a sample that is down on purpose'

export class DownOnPurpose {
  /** Agents of which it is said. */
  readonly #told = new Set<string>()

  /** Returns what is shown in the place of a line. */
  lines(entry: StampedEntry, line: EntryLine | null): readonly EntryLine[] {
    if (line === null) return []
    if (!isOfPurpose(entry)) return [line]
    // Only who hires such an agent has a webhook to it, and wants to see what becomes of that.
    const webhook = entry.type === 'webhook' ? [quiet(line)] : []
    return [...webhook, ...this.#once(line.agentId)]
  }

  #once(agentId: string | null): readonly EntryLine[] {
    if (agentId === null || this.#told.has(agentId)) return []
    this.#told.add(agentId)
    return [{ ...usual, what: WHY, agentId, isQuiet: true }]
  }
}

const quiet = (line: EntryLine): EntryLine => ({ ...line, isFailure: false, isQuiet: true, below: [], help: null })
