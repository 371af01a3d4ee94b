/**
 * Whose request has the thread next. A flow is an account, whatever addresses it comes from, or an address whose account is
 * not known. Source: A-289.
 *
 * While there is time and nobody waits, a request begins at once. Else it waits until all that has arrived is read, and
 * begins in the order of what its flow has had of the thread. A stretch of work is short: then sockets are read again.
 */
import { type Refusal, refuse } from '../api/failures.ts'
import { boundedCache } from '../shared/bounded-cache.ts'
import { FairQueue } from '../shared/fair-queue.ts'
import { Gone } from './bodies/body.ts'
import type { Credential } from './credentials.ts'

/** After so many ms of work the sockets are read again. */
const STRETCH_MS = 4
/** Signed callbacks, and what ends open work, are ahead of requests of flows that have had up to so many ms less. */
const HEAD_START_MS = 20
const MOST_WAITING = 1_000
const LONGEST_WAIT_MS = 15_000
/** What files take of the thread that come or go, in pieces that are short by themselves. */
export const MS_PER_BYTE = 1e-6
/** Credentials whose accounts are known; the one that was used longest ago is forgotten. */
const KNOWN_CREDENTIALS = 10_000

interface Asked {
  readonly flow: string
  readonly isUrgent: boolean
  /** What it will have of the thread, by estimate, in ms. */
  readonly ms: number
}

interface Turn extends Asked {
  readonly since: number
  begin(): void
  refuse(refusal: Refusal): void
}

/** What ends with a connection. */
interface Leaving {
  readonly closed: boolean
  once(event: 'close', leave: () => void): unknown
  off(event: 'close', leave: () => void): unknown
}

export class Turns {
  readonly #queue = new FairQueue<Turn>(HEAD_START_MS)
  readonly #accounts = boundedCache<string>({ maxEntries: KNOWN_CREDENTIALS })
  /** When this stretch of work has begun; null between two. */
  #from: number | null = null
  /** What was let in by estimate and may run only after this stretch. */
  #ahead = 0

  get waiting(): number {
    return this.#queue.waiting
  }

  get flows(): number {
    return this.#queue.flows
  }

  /** The account of the credential, if a request with it was identified before. */
  accountOf(credential: Credential | null): string | undefined {
    return credential?.value ? this.#accounts.get(credential.value) : undefined
  }

  know(credential: Credential, account: string): void {
    if (credential.value !== null) this.#accounts.set(credential.value, account)
  }

  /** Refuses a request of which only the head is read, if all turns are taken and its flow has its share of them. */
  refuseIfFull(flow: string): void {
    if (this.#queue.waiting >= MOST_WAITING && this.#queue.hasItsShare(flow)) throw refuse('overloaded')
  }

  /** Returns undefined if the request may begin at once; else it waits. Who leaves meanwhile is never served. */
  take(asked: Asked, client: Leaving): Promise<void> | undefined {
    if (this.#queue.waiting > 0 || !this.#hasTime()) return this.#wait(asked, client)
    this.#let(asked)
    return undefined
  }

  /** Lets others have the thread in the midst of something long; resolves when it is this flow's turn again. */
  yieldTo(flow: string, client: Leaving): Promise<void> {
    this.#hasTime()
    return this.#wait({ flow, isUrgent: false, ms: 0 }, client)
  }

  /** What the flow had beyond the estimate. */
  charge(flow: string, ms: number): void {
    this.#queue.charge(flow, ms)
  }

  #let({ flow, ms }: Asked): void {
    this.#ahead += ms
    this.#queue.charge(flow, ms)
  }

  #hasTime(): boolean {
    if (this.#from === null) this.#begin()
    return performance.now() - this.#from! + this.#ahead < STRETCH_MS
  }

  /** Begins a stretch. It ends when all sockets have been read. */
  #begin(): void {
    this.#from = performance.now()
    this.#ahead = 0
    setImmediate(this.#end)
  }

  readonly #end = (): void => {
    this.#from = null
    if (this.#queue.waiting === 0) this.#queue.forget()
    else {
      this.#begin()
      this.#next()
    }
  }

  readonly #next = (): void => {
    const turn = this.#queue.shift()
    if (!turn) return
    if (performance.now() - turn.since > LONGEST_WAIT_MS) turn.refuse(refuse('overloaded'))
    else {
      this.#let(turn)
      turn.begin()
    }
    // Runs when all has been done that the request can do without waiting: its microtasks, and theirs.
    if (this.#queue.waiting > 0) queueMicrotask(() => process.nextTick(this.#nextInTime))
  }

  readonly #nextInTime = (): void => {
    if (this.#hasTime()) this.#next()
  }

  #wait(asked: Asked, client: Leaving): Promise<void> {
    if (this.#queue.waiting >= MOST_WAITING) this.#queue.pop()?.refuse(refuse('overloaded'))
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (this.#queue.remove(turn.flow, turn)) reject(new Gone('The client left'))
      }
      const ended = (end: () => void) => {
        client.off('close', leave)
        end()
      }
      const turn: Turn = {
        ...asked,
        since: performance.now(),
        begin: () => ended(resolve),
        refuse: refusal => ended(() => reject(refusal)),
      }
      client.once('close', leave)
      this.#queue.push(asked.flow, turn, asked.isUrgent)
    })
  }
}
