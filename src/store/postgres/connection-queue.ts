/**
 * Who gets a connection next: the account or address that has had them for the shortest time. None takes all, so others find
 * one, however long its units take. Waits are bounded. Source: A-289.
 */
import { FairQueue } from '../../shared/fair-queue.ts'
import { BusyError } from '../db.ts'

export interface Slots {
  /** Acquires a slot. Returns undefined if one is free, else a promise that rejects with a BusyError after the longest wait. */
  acquire(flow: string): Promise<void> | undefined
  /** `ms`: how long the flow has had it. */
  release(flow: string, ms: number): void
  /** Allows so many for the moment, and one more now and then until all are allowed again. */
  narrow(count: number): void
  readonly waiting: number
}

/** What the marketplace does by itself, as sending webhooks: it bounds its units elsewhere. */
export const OWN = ''

/** The part of what others have left that one flow may have. One that is free may always be taken. */
const SHARE = 3 / 4
/** The marketplace's own units are ahead of flows that have had connections for so much less. */
const HEAD_START_MS = 1_000

/** How soon one more is tried than the server lately had room for. */
const WIDEN_MS = 250

/** Allows `count` connections at a time. A caller that has waited for `waitMs` is rejected. */
export function createSlots(count: number, waitMs: number): Slots {
  const queue = new FairQueue<() => void>(HEAD_START_MS)
  const held = new Map<string, number>()
  let left = count
  /** How many are not allowed for the moment. */
  let withheld = 0
  let widening: NodeJS.Timeout | undefined

  const mayTake = (flow: string) => {
    const own = held.get(flow) ?? 0
    const free = left - withheld
    return free > 0 && (flow === OWN || own < Math.ceil((free + own) * SHARE))
  }
  const take = (flow: string) => {
    left--
    held.set(flow, (held.get(flow) ?? 0) + 1)
  }
  const giveBack = (flow: string) => {
    left++
    const own = (held.get(flow) ?? 1) - 1
    if (own > 0) held.set(flow, own)
    else held.delete(flow)
  }

  const widen = () => {
    withheld = Math.max(0, withheld - 1)
    if (withheld === 0) {
      clearInterval(widening)
      widening = undefined
    }
    queue.shift(mayTake)?.()
  }

  const wait = (flow: string) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.remove(flow, go)
        reject(new BusyError(`No connection to the database was free for ${waitMs} ms.`))
      }, waitMs)
      const go = () => {
        clearTimeout(timer)
        take(flow)
        resolve()
      }
      queue.push(flow, go, flow === OWN)
    })

  return {
    acquire(flow) {
      if (!mayTake(flow)) return wait(flow)
      take(flow)
      return undefined
    },
    release(flow, ms) {
      giveBack(flow)
      queue.charge(flow, ms)
      queue.shift(mayTake)?.()
      if (left === count) queue.forget()
    },
    narrow(allowed) {
      withheld = Math.max(withheld, count - allowed)
      widening ??= setInterval(widen, WIDEN_MS).unref()
    },
    get waiting() {
      return queue.waiting
    },
  }
}
