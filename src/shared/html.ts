/** A template tag for HTML. It escapes every value that is not HTML itself. */

import { partsOf } from './text-parts.ts'

/** Its text is made when it is asked for, in pieces, of which each is short. */
export class Html implements Iterable<string> {
  readonly #texts: readonly string[]
  readonly #parts: readonly Part[]

  constructor(texts: readonly string[], parts: readonly Part[] = []) {
    this.#texts = texts
    this.#parts = parts
  }

  get text(): string {
    return [...this].join('')
  }

  *[Symbol.iterator](): Generator<string, void> {
    for (const [at, text] of this.#texts.entries()) {
      yield text
      yield* piecesOf(this.#parts[at])
    }
  }
}

/** Text that is HTML already. */
export const raw = (text: string) => new Html([text])

type Part = Html | string | number | false | null | undefined | readonly Part[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const html = (texts: TemplateStringsArray, ...parts: Part[]): Html => new Html(texts, parts)

function* piecesOf(part: Part): Generator<string, void> {
  if (part instanceof Html) yield* part
  else if (part === false || part === null || part === undefined) return
  else if (typeof part === 'object') for (const one of part) yield* piecesOf(one)
  else for (const text of partsOf(String(part))) yield text.replaceAll(/[&<>"']/g, sign => entities[sign]!)
}
