/** A mistake of an agent is explained once, until it does the same thing rightly. Each further failure is a line by itself. */
import type { StampedEntry } from '../../market/log.ts'
import type { EntryLine } from './entry-lines.ts'

/** So many agents, and so many texts of each, are known at most. */
const MOST = 500

export class ToldOnce {
  /** What stood below lines, by agent and by who asked whom. */
  readonly #told = new Map<string, Set<string | null>>()
  /** Warnings, which say of a mistake what later lines would. */
  readonly #warned = new Set<string>()

  line(entry: StampedEntry, line: EntryLine): EntryLine {
    const { agentId, why, below, help } = line
    if (entry.type === 'warning') within(this.#warned).add(entry.message)
    if (agentId === null || (entry.type !== 'webhook' && entry.type !== 'callback')) return line
    const key = `${entry.type} ${agentId}`
    const told = within(this.#told.get(key) ?? new Set<string | null>())
    if (why === '') {
      for (const text of told) this.#warned.delete(text ?? '')
      this.#told.delete(key)
      return line
    }
    const [isTold, isHelped] = [told.has(why) || this.#warned.has(why), told.has(help)]
    within(this.#told).set(key, told.add(why).add(help))
    if (!isTold) return line
    const rest = below.map(text => text.replace(why, '').trim()).filter(Boolean)
    return { ...line, below: rest, help: isHelped ? null : help }
  }
}

function within<Known extends { readonly size: number; clear(): void }>(known: Known): Known {
  if (known.size >= MOST) known.clear()
  return known
}
