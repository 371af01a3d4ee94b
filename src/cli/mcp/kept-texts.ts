/** Long answers: the beginning is shown, and the rest is kept for a while under a handle. */

/** What a coding agent reads at once without losing its thread. */
const PART = 4_000
/** The end of an answer often is its sum. */
const END = 300
const MOST_KEPT = 20

export class KeptTexts {
  readonly #texts = new Map<string, string>()
  #count = 0

  /** Returns the text if it is short; else its beginning, its end, and how to get what is between. */
  shown(text: string): string {
    if (text.length <= PART) return text
    const handle = `text_${++this.#count}`
    this.#texts.set(handle, text)
    if (this.#texts.size > MOST_KEPT) this.#texts.delete(this.#texts.keys().next().value!)
    return `${this.part(handle, 0)}\n… and it ends:\n${text
      .slice(-END)
      .replace(/^[^\n]*\n/, '')
      .toWellFormed()}`
  }

  /** Returns one part, or says that there is none any more. */
  part(handle: string, from: number): string {
    const text = this.#texts.get(handle)
    if (text === undefined) return `There is no ${handle} any more: ask again for what it was about.`
    const end = from + PART
    const part = text.slice(from, end).toWellFormed()
    const left = text.length - end
    return left > 0 ? `${part}\n… ${left} more characters: more {"handle":"${handle}","from":${end}}` : part
  }
}
