/** Keeps the last entries of a simulator's log in memory, for those that follow it. */
import type { Feed, FeedItem } from '../api/reply.ts'
import type { StampedEntry } from './log.ts'
import { iso } from './time.ts'

/** Its text is made when somebody takes it: made for each entry it cost a request of a simulator 3 µs. */
class Kept implements FeedItem {
  readonly entry: StampedEntry
  readonly characters: number

  constructor(entry: StampedEntry) {
    this.entry = entry
    this.characters = charactersOf(entry)
  }

  get number(): number {
    return this.entry.seq
  }

  get text(): string {
    return entryJson(this.entry)
  }

  get taskId(): string | null {
    return taskIdOf(this.entry)
  }
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
    const kept = new Kept(entry)
    this.#kept.set(kept.number, kept)
    this.#last = kept.number
    this.#characters += kept.characters
    while (this.#kept.size > this.#bounds.entries || this.#characters > this.#bounds.characters) this.#dropOldest()
    for (const wake of this.#followers) wake()
  }

  /**
   * Found by its number: an iterator over a map that loses its first entries passes all that are gone, 8 µs for each request
   * of a server.
   */
  #dropOldest(): void {
    const oldest = this.#kept.get(this.#oldest)
    this.#kept.delete(this.#oldest++)
    this.#characters -= oldest?.characters ?? 0
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

/** What an entry holds besides its texts. */
const OWN_CHARACTERS = 200

/** Estimates the length of an entry's text. */
function charactersOf(entry: StampedEntry): number {
  let sum = OWN_CHARACTERS
  for (const value of Object.values(entry)) {
    if (typeof value === 'string') sum += value.length
    else if (typeof value === 'object' && value !== null) sum += JSON.stringify(value).length
  }
  return sum
}

const taskIdOf = (entry: StampedEntry) => ('taskId' in entry ? entry.taskId : null)

/** An entry as programs get it: times are ISO 8601. */
export const entryJson = (entry: StampedEntry) =>
  JSON.stringify({ ...entry, at: iso(entry.at), realAt: iso(entry.realAt) })
