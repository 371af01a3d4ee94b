/**
 * A queue for password hashing, which takes a core and 19 MB each time. Few run at once and a bounded number waits. Client
 * addresses are served in turn, so an address that sends many delays only itself. A client that disconnects leaves the queue.
 */
import { refuse } from '../../api/failures.ts'
import type { Caller } from '../market.ts'

type Waiter = Pick<Caller, 'address' | 'gone'>

interface Waiting {
  begin(): void
  fail(error: unknown): void
}

/** Runs `atOnce` at a time; lets `most` wait. */
export class HashQueue {
  readonly #atOnce: number
  readonly #most: number
  #running = 0
  #count = 0
  /** By client address. The first address is served next. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor({ atOnce, most }: { atOnce: number; most: number }) {
    this.#atOnce = atOnce
    this.#most = most
  }

  get waiting(): number {
    return this.#count
  }

  /**
   * Runs `work` when it is its turn. Rejects with `overloaded` if too many wait, or with the reason of `gone` if the client
   * has left.
   */
  async run<T>(by: Waiter, work: () => Promise<T>): Promise<T> {
    // A run that ends passes its slot to the next in the queue, so a newcomer can't get ahead of it.
    if (this.#running < this.#atOnce) this.#running++
    else await this.#wait(by)
    try {
      return await work()
    } finally {
      if (!this.#beginNext()) this.#running--
    }
  }

  async #wait({ address, gone }: Waiter): Promise<void> {
    gone?.throwIfAborted()
    const own = this.#waiting.get(address) ?? []
    if (this.#count >= this.#most) this.#makeRoom(own.length)
    let one: Waiting | undefined
    const leave = () => {
      this.#remove(address, one!)
      one!.fail(gone!.reason)
    }
    try {
      await new Promise<void>((begin, fail) => {
        one = { begin, fail }
        own.push(one)
        this.#waiting.set(address, own)
        this.#count++
        gone?.addEventListener('abort', leave, { once: true })
      })
    } finally {
      gone?.removeEventListener('abort', leave)
    }
  }

  /** Drops the last request of the address that has most in the queue, if that is fairer. Else refuses the newcomer. */
  #makeRoom(own: number): void {
    const [address, longest] = [...this.#waiting].reduce((one, other) =>
      other[1].length > one[1].length ? other : one,
    )
    if (longest.length < own + 2) throw refuse('overloaded')
    const last = longest.at(-1)!
    this.#remove(address, last)
    last.fail(refuse('overloaded'))
  }

  #remove(address: string, one: Waiting): void {
    const waiting = this.#waiting.get(address)
    if (!waiting?.includes(one)) return
    waiting.splice(waiting.indexOf(one), 1)
    this.#count--
    if (waiting.length === 0) this.#waiting.delete(address)
  }

  #beginNext(): boolean {
    const [first] = this.#waiting
    if (!first) return false
    const [address, waiting] = first
    const one = waiting.shift()!
    this.#count--
    this.#waiting.delete(address)
    if (waiting.length > 0) this.#waiting.set(address, waiting)
    one.begin()
    return true
  }
}
