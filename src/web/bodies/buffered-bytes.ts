/**
 * Bounds the bytes that are buffered for clients: unread responses, arriving bodies, arriving files. There is a bound for one client,
 * an address or an account, and one for all. When all is full, the client that has most gives way to those that have less.
 * Source.
 */

export interface Buffered {
  readonly bytes: number
  add(bytes: number): void
  /** Ends the count. Further calls do nothing. */
  end(): void
}

interface Client {
  bytes: number
  /** The oldest first, each with the function that gives it up. */
  readonly buffered: Map<Buffered, () => void>
}

export class BufferedBytes {
  readonly #most: number
  readonly #ofOne: number
  readonly #clients = new Map<string, Client>()
  #total = 0

  /** `ofOne`: what one client may have buffered. */
  constructor(most: number, ofOne = most / 8) {
    this.#most = most
    this.#ofOne = ofOne
  }

  get total(): number {
    return this.#total
  }

  /** Whether the client has too much for `bytes` more. It may always have one item, however large. */
  isOver(client: string, bytes: number): boolean {
    const own = this.bytesOf(client)
    return own > 0 && own + bytes > this.#ofOne
  }

  /** Makes room for `bytes` more of this client, by giving up what larger clients have. Returns whether there is room. */
  makeRoom(client: string, bytes: number): boolean {
    while (this.#total > 0 && this.#total + bytes > this.#most) {
      const [largest, owner] = [...this.#clients].reduce((one, other) => (other[1].bytes > one[1].bytes ? other : one))
      if (largest === client || owner.bytes <= this.bytesOf(client) + bytes) return false
      const [[buffered, giveUp]] = owner.buffered as unknown as [[Buffered, () => void]]
      buffered.end()
      giveUp()
    }
    return true
  }

  /** Counts `bytes` for the client until the returned item is ended. */
  count(client: string, bytes: number, giveUp: () => void): Buffered {
    const count = (change: number) => this.#add(client, change)
    const forget = () => this.#forget(client, buffered)
    let own = 0
    let ended = false
    const buffered: Buffered = {
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
    const owner = this.#clients.get(client) ?? { bytes: 0, buffered: new Map() }
    owner.buffered.set(buffered, giveUp)
    this.#clients.set(client, owner)
    buffered.add(bytes)
    return buffered
  }

  bytesOf(client: string): number {
    return this.#clients.get(client)?.bytes ?? 0
  }

  #add(client: string, bytes: number): void {
    this.#total += bytes
    this.#clients.get(client)!.bytes += bytes
  }

  #forget(client: string, buffered: Buffered): void {
    const owner = this.#clients.get(client)!
    owner.buffered.delete(buffered)
    if (owner.buffered.size === 0) this.#clients.delete(client)
  }
}
