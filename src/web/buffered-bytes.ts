/**
 * Bounds the bytes that are held for clients: unread responses, arriving bodies, arriving files. There is a bound for one client,
 * an address or an account, and one for all. When all is full, the client that holds most gives way to those that hold less.
 * Source.
 */

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
  readonly #ofOne: number
  readonly #holders = new Map<string, Holder>()
  #total = 0

  /** `ofOne`: what one client may hold. */
  constructor(most: number, ofOne = most / 8) {
    this.#most = most
    this.#ofOne = ofOne
  }

  get total(): number {
    return this.#total
  }

  /** Whether the client holds too much to hold `bytes` more. It may always hold one item, however large. */
  isOver(client: string, bytes: number): boolean {
    const own = this.heldBy(client)
    return own > 0 && own + bytes > this.#ofOne
  }

  /** Makes room for `bytes` more of this client, by giving up what larger holders hold. Returns whether there is room. */
  makeRoom(client: string, bytes: number): boolean {
    while (this.#total > 0 && this.#total + bytes > this.#most) {
      const [largest, holder] = [...this.#holders].reduce((one, other) => (other[1].bytes > one[1].bytes ? other : one))
      if (largest === client || holder.bytes <= this.heldBy(client) + bytes) return false
      const [[held, giveUp]] = holder.held as unknown as [[Held, () => void]]
      held.end()
      giveUp()
    }
    return true
  }

  /** Counts `bytes` for the client until the returned item is ended. */
  hold(client: string, bytes: number, giveUp: () => void): Held {
    const count = (change: number) => this.#add(client, change)
    const forget = () => this.#forget(client, held)
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
    const holder = this.#holders.get(client) ?? { bytes: 0, held: new Map() }
    holder.held.set(held, giveUp)
    this.#holders.set(client, holder)
    held.add(bytes)
    return held
  }

  heldBy(client: string): number {
    return this.#holders.get(client)?.bytes ?? 0
  }

  #add(client: string, bytes: number): void {
    this.#total += bytes
    this.#holders.get(client)!.bytes += bytes
  }

  #forget(client: string, held: Held): void {
    const holder = this.#holders.get(client)!
    holder.held.delete(held)
    if (holder.held.size === 0) this.#holders.delete(client)
  }
}
