/** A queue for connections: first come, first served, with a bounded wait. */
import { BusyError } from '../db.ts'

export interface Slots {
  /** Acquires a slot. Returns undefined if one is free, else a promise that rejects with a BusyError after the longest wait. */
  acquire(): Promise<void> | undefined
  release(): void
  readonly waiting: number
}

interface Waiting {
  go(): void
}

/** Allows `count` connections at a time. A caller that has waited for `waitMs` is rejected. */
export function createSlots(count: number, waitMs: number): Slots {
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
    acquire() {
      if (left === 0) return wait()
      left--
      return undefined
    },
    release() {
      const [first] = queue
      if (first) first.go()
      else left++
    },
    get waiting() {
      return queue.size
    },
  }
}
