/**
 * What has just changed, for the pages of those whom it concerns: it says what to read anew, and nothing of what is there. Kept in memory, and
 * only once somebody follows. Source: A-311.
 */
import type * as z from 'zod'
import type { change } from '../api/dev-records.ts'
import { limits } from '../api/limits.ts'
import type { Feed } from '../api/reply.ts'
import { Ring } from './ring.ts'
import { iso } from './time.ts'

type Changed = z.infer<ReturnType<typeof change>>
/** What is not said is null. */
type Told = Pick<Changed, 'type'> & Partial<Omit<Changed, 'type' | 'at'>>

interface Kept {
  readonly users: readonly (string | null)[]
  readonly text: string
}

/** Stands among the ids of accounts for those who see all. */
const ALL = '*'
const { changes: count } = limits.streams

export class Changes {
  readonly #ring = new Ring<Kept>({ count, size: count })
  readonly #followers = new Map<string, Set<() => void>>()
  #isFollowed = false

  /** `users`: whom it concerns, beside those who see all. `now`: domain time. */
  tell(users: readonly (string | null)[], now: number, { type, ...given }: Told): void {
    if (!this.#isFollowed) return
    const { taskId = null, agentId = null, deliveryId = null, what = null } = given
    const told: Changed = { type, at: iso(now), taskId, agentId, deliveryId, what }
    this.#ring.add({ users, text: JSON.stringify(told) }, 1)
    for (const userId of new Set([ALL, ...users])) for (const wake of this.#followers.get(userId ?? '') ?? []) wake()
  }

  /** What concerns one account, or all of it. */
  feed(userId: string, seesAll: boolean): Feed {
    this.#isFollowed = true
    const [ring, followers, key] = [this.#ring, this.#followers, seesAll ? ALL : userId]
    return {
      get oldest() {
        return ring.oldest
      },
      get last() {
        return ring.last
      },
      next: after => ring.next(after, ({ users, text }) => (seesAll || users.includes(userId) ? text : undefined)),
      watch(wake) {
        const own = followers.get(key) ?? new Set()
        followers.set(key, own.add(wake))
        return () => {
          own.delete(wake)
          if (own.size === 0) followers.delete(key)
        }
      },
    }
  }
}
