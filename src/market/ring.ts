/** Keeps the newest of what is added, within bounds of number and size. What is added is numbered from 1, without a gap. */
export interface RingBounds {
  readonly count: number
  readonly size: number
}

/** An array that is written in a circle: nothing moves, and what is dropped leaves no hole that an iterator would pass. */
export class Ring<T> {
  readonly #bounds: RingBounds
  readonly #items: (T | undefined)[] = []
  readonly #sizes: number[] = []
  #size = 0
  #oldest = 1
  #last = 0

  constructor(bounds: RingBounds) {
    this.#bounds = bounds
  }

  /** The number of the oldest that is kept, one more than `last` if none is. */
  get oldest(): number {
    return this.#oldest
  }

  /** The number of what was added last, 0 if nothing was. */
  get last(): number {
    return this.#last
  }

  /** `size`: in the unit of the bound. */
  add(item: T, size: number): void {
    const number = ++this.#last
    if (number - this.#oldest === this.#bounds.count) this.#dropOldest()
    const slot = this.#slot(number)
    this.#items[slot] = item
    this.#sizes[slot] = size
    this.#size += size
    while (this.#size > this.#bounds.size) this.#dropOldest()
  }

  at(number: number): T | undefined {
    return number >= this.#oldest && number <= this.#last ? this.#items[this.#slot(number)] : undefined
  }

  /** The first after this number of which `textOf` makes a text. */
  next(after: number, textOf: (item: T) => string | undefined): { number: number; text: string } | undefined {
    for (let number = Math.max(after + 1, this.#oldest); number <= this.#last; number++) {
      const text = textOf(this.at(number)!)
      if (text !== undefined) return { number, text }
    }
    return undefined
  }

  #dropOldest(): void {
    const slot = this.#slot(this.#oldest++)
    this.#size -= this.#sizes[slot]!
    this.#items[slot] = undefined
  }

  #slot(number: number): number {
    return number % this.#bounds.count
  }
}
