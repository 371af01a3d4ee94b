/** What is under way at this moment, so that the simulator's clock can wait for it and name it. Source. */

export interface UnderWay {
  readonly kind: 'webhook' | 'callback' | 'heartbeat' | 'mail' | 'buyer'
  /** Of the delivery, of the task or connection test that is called back about, of the agent, of the mail, or of the agent that a simulated buyer deals with. */
  readonly id: string
}

export class Activity {
  readonly #items = new Set<UnderWay>()
  readonly #waiting = new Set<() => void>()

  /** Notes that something began. Call what it returns at the end. */
  begin(kind: UnderWay['kind'], id: string): () => void {
    const item = { kind, id }
    this.#items.add(item)
    return () => {
      if (!this.#items.delete(item) || this.#items.size > 0) return
      for (const resolve of this.#waiting) resolve()
      this.#waiting.clear()
    }
  }

  get isEmpty(): boolean {
    return this.#items.size === 0
  }

  /** The first `count` of what is under way, the oldest first. */
  first(count: number): UnderWay[] {
    return [...this.#items].slice(0, count)
  }

  /** Resolves when nothing is under way. */
  ended(): Promise<void> {
    if (this.isEmpty) return Promise.resolve()
    return new Promise(resolve => this.#waiting.add(resolve))
  }
}
