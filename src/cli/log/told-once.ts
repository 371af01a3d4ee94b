/** A mistake of an agent is explained once, until it does the same thing rightly. Each further failure is a line by itself. */
import type { StampedEntry } from '../../market/log.ts'
import type { EntryLine } from './entry-lines.ts'

/** So many agents, and so many texts of each, are known at most. */
const MOST = 500

export class ToldOnce {
  /** What stood below lines, by agent and by who asked whom. */
  readonly #told = new Map<string, Set<string | null>>()

  line({ type }: StampedEntry, line: EntryLine): EntryLine {
    const { agentId, why, below, help } = line
    if (agentId === null || (type !== 'webhook' && type !== 'callback')) return line
    const key = `${type} ${agentId}`
    const told = this.#told.get(key) ?? new Set()
    if (why === '') {
      this.#told.delete(key)
      return line
    }
    if (this.#told.size >= MOST) this.#told.clear()
    if (told.size >= MOST) told.clear()
    const isTold = told.has(why)
    const again = { ...line, help: told.has(help) ? null : help }
    this.#told.set(key, told.add(why).add(help))
    return isTold ? { ...again, below: below.map(text => text.replace(why, '').trim()).filter(Boolean) } : line
  }
}
