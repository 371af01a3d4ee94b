/** Makes the JSON of an answer in pieces, none of which is long, whatever the answer holds: slices are made of them. Source: A-289. */
import { Json } from '../api/reply.ts'
import { AT_ONCE, partsOf } from '../shared/text-parts.ts'

/** A text that is made bit by bit, so that it can be made in slices. */
export interface Pieces extends Iterable<string> {
  /** The part of it that is made so far, of 1, if that can be told. */
  readonly made?: number
}

/** Escapes make up to six characters of one, so JSON that is made already may come in longer pieces. */
const MOST_ESCAPED = 6 * AT_ONCE

export class JsonPieces implements Pieces {
  readonly #data: unknown
  #made = 0

  constructor(data: unknown) {
    this.#data = data
  }

  get made(): number {
    return Math.min(1, this.#made / charactersOf(this.#data, Number.POSITIVE_INFINITY))
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#of(this.#data)
  }

  *#of(data: unknown): Generator<string, void> {
    if (data instanceof Json) {
      const { length } = data
      yield* partsOf(data.text, MOST_ESCAPED)
      this.#made += length
    } else if (typeof data === 'string' && data.length > AT_ONCE) {
      yield '"'
      for (const part of partsOf(data)) {
        this.#made += part.length
        yield JSON.stringify(part).slice(1, -1)
      }
      yield '"'
    } else {
      // Once: most answers are short, and are made whole.
      const length = charactersOf(data, AT_ONCE)
      if (length > AT_ONCE) return yield* this.#ofParts(data as object)
      this.#made += length
      yield JSON.stringify(data) ?? 'null'
    }
  }

  *#ofParts(data: object): Generator<string, void> {
    const isList = Array.isArray(data)
    let before = isList ? '[' : '{'
    for (const [key, value] of isList ? data.entries() : Object.entries(data)) {
      if (value === undefined && !isList) continue
      yield isList ? before : `${before}${JSON.stringify(key)}:`
      before = ','
      yield* this.#of(value)
    }
    yield isList ? ']' : '}'
  }
}

/** About how many characters its JSON has without escapes; it counts no further than `most`. JSON that is made already is always more. */
function charactersOf(data: unknown, most: number): number {
  if (typeof data === 'string') return data.length + 2
  if (typeof data !== 'object' || data === null) return 4
  if (data instanceof Json) return most === Number.POSITIVE_INFINITY ? data.length : most + 1
  let sum = 2
  if (Array.isArray(data)) for (let i = 0; i < data.length && sum <= most; i++) sum += charactersOf(data[i], most) + 1
  else {
    for (const key in data) {
      if (sum > most) break
      sum += key.length + 4 + charactersOf((data as Record<string, unknown>)[key], most)
    }
  }
  return sum
}
