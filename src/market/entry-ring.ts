/** Keeps the last entries of a simulator's log in memory, for those that follow it. */
import type { Feed, FeedItem } from '../api/reply.ts'
import type { StampedEntry } from './log.ts'
import { iso } from './time.ts'

interface Kept extends FeedItem {
  readonly taskId: string | null
}

const usual = { entries: 10_000, characters: 16 * 1024 * 1024 }

export class EntryRing {
  readonly #bounds: typeof usual
  /** Oldest first, by number; the numbers have no gap. */
  readonly #kept = new Map<number, Kept>()
  readonly #followers = new Set<() => void>()
  #characters = 0
  #oldest = 1
  #last = 0

  constructor(bounds: Partial<typeof usual> = {}) {
    this.#bounds = { ...usual, ...bounds }
  }

  add(entry: StampedEntry): void {
    const kept = { number: entry.seq, text: entryJson(entry), taskId: taskIdOf(entry) }
    this.#kept.set(kept.number, kept)
    this.#last = kept.number
    this.#characters += kept.text.length
    for (const oldest of this.#kept.values()) {
      if (this.#kept.size <= this.#bounds.entries && this.#characters <= this.#bounds.characters) break
      this.#kept.delete(oldest.number)
      this.#characters -= oldest.text.length
      this.#oldest = oldest.number + 1
    }
    for (const wake of this.#followers) wake()
  }

  /** The entries of this task alone, or all. */
  feed(taskId?: string): Feed {
    const ring = this
    return {
      get oldest() {
        return ring.#oldest
      },
      get last() {
        return ring.#last
      },
      next(after) {
        for (let number = Math.max(after + 1, ring.#oldest); number <= ring.#last; number++) {
          const kept = ring.#kept.get(number)
          if (kept && (taskId === undefined || kept.taskId === taskId)) return kept
        }
        return undefined
      },
      watch(wake) {
        ring.#followers.add(wake)
        return () => void ring.#followers.delete(wake)
      },
    }
  }
}

const taskIdOf = (entry: StampedEntry) => ('taskId' in entry ? entry.taskId : null)

/** An entry as programs get it: times are ISO 8601. */
export const entryJson = (entry: StampedEntry) =>
  JSON.stringify({ ...entry, at: iso(entry.at), realAt: iso(entry.realAt) })
