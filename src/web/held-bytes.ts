/**
 * Bounds the bytes that are held in memory for clients: unread responses, or arriving bodies. There is a bound for one client
 * address and one for all. When all is full, the address that holds most gives way to those that hold less. Source: A-49.
 */

/** One address may hold 1/8 of all. */
const SHARE = 8

export interface Held {
  readonly bytes: number
  add(bytes: number): void
  /** Ends the count. Further calls do nothing. */
  end(): void
}

interface Holder {
  bytes: number
  /** The oldest first, each with the function that gives it up. */
  readonly held: Map<Held, () => void>
}

export class HeldBytes {
  readonly #most: number
  readonly #holders = new Map<string, Holder>()
  #total = 0

  constructor(most: number) {
    this.#most = most
  }

  get total(): number {
    return this.#total
  }

  /** Whether the address holds too much to hold `bytes` more. It may always hold one item, however large. */
  isOver(address: string, bytes: number): boolean {
    const own = this.#of(address)
    return own > 0 && own + bytes > this.#most / SHARE
  }

  /** Makes room for `bytes` more of this address, by giving up what larger holders hold. Returns whether there is room. */
  makeRoom(address: string, bytes: number): boolean {
    while (this.#total > 0 && this.#total + bytes > this.#most) {
      const [largest, holder] = [...this.#holders].reduce((one, other) => (other[1].bytes > one[1].bytes ? other : one))
      if (largest === address || holder.bytes <= this.#of(address) + bytes) return false
      const [[held, giveUp]] = holder.held as unknown as [[Held, () => void]]
      held.end()
      giveUp()
    }
    return true
  }

  /** Counts `bytes` for the address until the returned item is ended. */
  hold(address: string, bytes: number, giveUp: () => void): Held {
    const count = (change: number) => this.#add(address, change)
    const forget = () => this.#forget(address, held)
    let own = 0
    let ended = false
    const held: Held = {
      get bytes() {
        return own
      },
      add(more) {
        if (ended) return
        own += more
        count(more)
      },
      end() {
        if (ended) return
        ended = true
        count(-own)
        forget()
      },
    }
    const holder = this.#holders.get(address) ?? { bytes: 0, held: new Map() }
    holder.held.set(held, giveUp)
    this.#holders.set(address, holder)
    held.add(bytes)
    return held
  }

  #of(address: string): number {
    return this.#holders.get(address)?.bytes ?? 0
  }

  #add(address: string, bytes: number): void {
    this.#total += bytes
    this.#holders.get(address)!.bytes += bytes
  }

  #forget(address: string, held: Held): void {
    const holder = this.#holders.get(address)!
    holder.held.delete(held)
    if (holder.held.size === 0) this.#holders.delete(address)
  }
}
