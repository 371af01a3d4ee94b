/**
 * Bounds a number of concurrent operations, and how many of them one key may have. A key that has used up its share does
 * not block the others.
 */

export interface SharesOptions {
  /** Concurrent operations in all. */
  total: number
  /** Concurrent operations for one key. */
  each: number
  /** How many may wait. Further ones are rejected at once. */
  waiting: number
  /** The longest wait. */
  waitMs: number
}

export interface Shares {
  /** Resolves with a function that releases the slot. Rejects with a NoSlotError if no slot became free in time. */
  acquire(keys: readonly string[]): Promise<() => void>
}

export class NoSlotError extends Error {
  /** The keys whose share was used up; none if all slots were taken. */
  readonly exhausted: readonly string[]
  constructor(exhausted: readonly string[]) {
    super('No slot became free in time.')
    this.exhausted = exhausted
  }
}

interface Waiting {
  readonly keys: readonly string[]
  go(): void
}

export function createShares({ total, each, waiting: mostWaiting, waitMs }: SharesOptions): Shares {
  const taken = new Map<string, number>()
  const queue = new Set<Waiting>()
  let all = 0

  const fits = (keys: readonly string[]) => all < total && keys.every(key => (taken.get(key) ?? 0) < each)

  const busy = (keys: readonly string[]) =>
    new NoSlotError(all >= total ? [] : keys.filter(key => (taken.get(key) ?? 0) >= each))

  const change = (keys: readonly string[], by: 1 | -1) => {
    all += by
    for (const key of keys) {
      const count = (taken.get(key) ?? 0) + by
      if (count > 0) taken.set(key, count)
      else taken.delete(key)
    }
  }

  const enter = (keys: readonly string[]) => {
    change(keys, 1)
    let left = false
    return () => {
      if (left) return
      left = true
      change(keys, -1)
      for (const one of queue) {
        if (all >= total) return
        if (fits(one.keys)) one.go()
      }
    }
  }

  return {
    async acquire(keys) {
      if (fits(keys)) return enter(keys)
      if (queue.size >= mostWaiting) throw busy(keys)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          queue.delete(one)
          reject(busy(keys))
        }, waitMs)
        const one: Waiting = {
          keys,
          go() {
            queue.delete(one)
            clearTimeout(timer)
            resolve(enter(keys))
          },
        }
        queue.add(one)
      })
    },
  }
}
