/** A line that an agent prints again and again, as of each webhook of a probe, is shown once, and then how often it came. */
import type { StampedEntry } from '../../market/log.ts'
import { type EntryLine, OUTPUT, usual } from './entry-lines.ts'

/** A line that comes now and then is news each time. */
const SOON_MS = 2_000

export class Repeats {
  #last = ''
  #agent = ''
  #since = 0
  #again = 0

  /** Returns what is shown of an entry whose lines these are. */
  lines(entry: StampedEntry, lines: readonly EntryLine[]): readonly EntryLine[] {
    const text = entry.type === 'output' ? `${entry.agent}  ${entry.line}` : ''
    if (text !== '' && text === this.#last && entry.realAt - this.#since < SOON_MS) {
      this.#again++
      return []
    }
    if (text === '' && lines.length === 0) return lines
    const before =
      this.#again === 0 ? [] : [{ ...usual, mark: OUTPUT, what: `${this.#agent}  the same, ${this.#again} times more` }]
    this.#last = text
    this.#since = entry.realAt
    this.#agent = entry.type === 'output' ? entry.agent : ''
    this.#again = 0
    return [...before, ...lines]
  }
}
