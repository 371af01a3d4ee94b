/** A queue for connections: first come, first served, with a bounded wait. */
import { BusyError } from '../db.ts'

export interface Turns {
  /** Takes a turn. Returns undefined if one is free, else a promise that rejects with a BusyError after the longest wait. */
  take(): Promise<void> | undefined
  /** Ends a turn. */
  give(): void
  readonly waiting: number
}

interface Waiting {
  go(): void
}

/** Allows `count` turns at a time. A caller that has waited for `waitMs` is rejected. */
export function createTurns(count: number, waitMs: number): Turns {
  const queue = new Set<Waiting>()
  let left = count

  const wait = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.delete(waiting)
        reject(new BusyError(`No connection to the database was free for ${waitMs} ms.`))
      }, waitMs)
      const waiting = {
        go() {
          queue.delete(waiting)
          clearTimeout(timer)
          resolve()
        },
      }
      queue.add(waiting)
    })

  return {
    take() {
      if (left === 0) return wait()
      left--
      return undefined
    },
    give() {
      const [first] = queue
      if (first) first.go()
      else left++
    },
    get waiting() {
      return queue.size
    },
  }
}
