/** Keeps the last entries of a simulator's log in memory, for those that follow it. */
import type { Feed } from '../api/reply.ts'
import type { StampedEntry } from './log.ts'
import { Ring } from './ring.ts'
import { iso } from './time.ts'

const usual = { entries: 10_000, characters: 16 * 1024 * 1024 }

export class EntryRing {
  readonly #ring: Ring<StampedEntry>
  readonly #followers = new Set<() => void>()

  constructor(bounds: Partial<typeof usual> = {}) {
    const { entries: count, characters: size } = { ...usual, ...bounds }
    this.#ring = new Ring({ count, size })
  }

  add(entry: StampedEntry): void {
    this.#ring.add(entry, charactersOf(entry))
    for (const wake of this.#followers) wake()
  }

  /** The entries of this task alone, or all. */
  feed(taskId?: string): Feed {
    const [ring, followers] = [this.#ring, this.#followers]
    return {
      get oldest() {
        return ring.oldest
      },
      get last() {
        return ring.last
      },
      next(after) {
        for (let number = Math.max(after + 1, ring.oldest); number <= ring.last; number++) {
          const entry = ring.at(number)
          // The text is made for who takes it: made for each entry it cost a request of a simulator 3 µs.
          if (entry && (taskId === undefined || taskIdOf(entry) === taskId)) return { number, text: entryJson(entry) }
        }
        return undefined
      },
      watch(wake) {
        followers.add(wake)
        return () => void followers.delete(wake)
      },
    }
  }
}

/** What an entry holds besides its texts. */
const OWN_CHARACTERS = 200

/** Estimates the length of an entry's text. */
function charactersOf(entry: StampedEntry): number {
  let sum = OWN_CHARACTERS
  const values = entry as unknown as Readonly<Record<string, unknown>>
  for (const name in values) {
    const value = values[name]
    if (typeof value === 'string') sum += value.length
    else if (typeof value === 'object' && value !== null) sum += JSON.stringify(value).length
  }
  return sum
}

const taskIdOf = (entry: StampedEntry) => ('taskId' in entry ? entry.taskId : null)

/** An entry as programs get it: times are ISO 8601. */
export const entryJson = (entry: StampedEntry) =>
  JSON.stringify({ ...entry, at: iso(entry.at), realAt: iso(entry.realAt) })
