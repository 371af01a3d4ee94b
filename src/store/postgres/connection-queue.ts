/** Whose turn it is when more ask than can be served: first come, first served, and nobody waits for ever. */
import { BusyError } from '../db.ts'

export interface Turns {
  /** Undefined if there is one at once. Rejects with a BusyError when it has not come in time. */
  take(): Promise<void> | undefined
  /** Gives back what was taken. */
  give(): void
  readonly waiting: number
}

interface Waiting {
  go(): void
}

/** `count` turns at a time; whoever has waited for `waitMs` is sent away. */
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
