/** What an agent has taken, and what of it is not done yet: in memory alone, or in a journal too. It needs only Node. Source: A-273. */
import { type Folded, JournalFile } from './journal-file.ts'

/** A webhook. */
export interface Came {
  /** Follows from its body, which is the same however often it comes. */
  readonly key: string
  /** Of this attempt and this delivery. */
  readonly marks: readonly string[]
  readonly body: string
}

/** A callback that was sent for an event. */
export interface Sent {
  /** When it was signed, in Unix ms. */
  readonly at: number
  /** Whether the marketplace has taken it; `data` is what it answered. */
  readonly counts?: boolean
  readonly data?: unknown
}

export interface Unfinished extends Came {
  /** How often it was begun. */
  runs: number
  /** By their names within the event. */
  readonly sent: Map<string, Sent>
  /** It went wrong in this process, and nobody works on it. */
  isLeft: boolean
  bytes: number
}

type Item =
  | { readonly came: Came; readonly runs?: number }
  | { readonly begun: string }
  | { readonly sent: readonly [key: string, name: string, Sent] }
  | { readonly done: string; readonly again?: boolean }
  | { readonly seen: readonly string[] }

const MOST_MARKS = 30_000
const MOST_UNFINISHED = 10_000
const MOST_BYTES = 64 * 1024 * 1024
const MARKS_A_LINE = 500

export class Inbox implements Folded<Item> {
  readonly #seen = new Set<string>()
  readonly #unfinished = new Map<string, Unfinished>()
  /** Those that are being written, by each of their marks. */
  readonly #coming = new Map<string, Promise<void>>()
  readonly #file: JournalFile<Item> | undefined
  readonly #isKept: boolean
  #bytes = 0

  /** `path`: that of the journal. Throws an Error with a sentence if it can't be had. */
  constructor(path: string | undefined) {
    this.#isKept = path !== undefined
    if (path !== undefined) this.#file = new JournalFile(path, this)
  }

  /** In the order in which they came. */
  get unfinished(): Unfinished[] {
    return [...this.#unfinished.values()]
  }

  /** What is kept of it; undefined without a journal, or if it is done. */
  kept(key: string): Unfinished | undefined {
    return this.#unfinished.get(key)
  }

  /** Resolves to whether it has not come before, once that is kept. Rejects with an Error with a sentence if it can't be kept. */
  async isNew(came: Came): Promise<boolean> {
    const marks = [came.key, ...came.marks]
    const coming = marks.map(mark => this.#coming.get(mark)).find(Boolean)
    if (coming) return coming.then(() => false)
    if (marks.some(mark => this.#seen.has(mark)) || this.#unfinished.get(came.key)?.isLeft === false) {
      this.#see(came.marks)
      return false
    }
    const kept = this.#take(came)
    for (const mark of marks) this.#coming.set(mark, kept)
    try {
      await kept
    } finally {
      for (const mark of marks) this.#coming.delete(mark)
    }
    return true
  }

  /** Counts that it is begun once more. */
  begun(key: string): Promise<void> {
    return this.#record({ begun: key })
  }

  sent(key: string, name: string, sent: Sent): Promise<void> {
    const isTooMuch = sent.data !== undefined && this.#bytes + weightOf(sent) > MOST_BYTES
    const { data: _, ...short } = sent
    return this.#record({ sent: [key, name, isTooMuch ? short : sent] })
  }

  /** It is done. `again`: and may be done again if it comes under another delivery id. */
  async done(key: string, again: boolean): Promise<void> {
    const item = { done: key, ...(again && { again }) }
    try {
      await this.#record(item)
    } catch (error) {
      this.apply(item)
      throw error
    }
  }

  /** It went wrong: it may be done again if it comes under another delivery id, and else at the next start. */
  leave(key: string): void {
    this.#seen.delete(key)
    this.#change(key, 0, one => (one.isLeft = true))
  }

  close(): void {
    this.#file?.close()
  }

  async #take(came: Came): Promise<void> {
    if (this.#unfinished.size + this.#coming.size >= MOST_UNFINISHED || this.#bytes + came.body.length > MOST_BYTES)
      throw new Error(`The journal is full: ${this.#unfinished.size} webhooks that were answered 200 are not done yet.`)
    return this.#record({ came })
  }

  async #record(item: Item): Promise<void> {
    if (this.#file) await this.#file.append(item)
    else this.apply(item)
  }

  apply(item: Item): void {
    if ('seen' in item) this.#see(item.seen)
    if ('came' in item) this.#begin(item.came, item.runs ?? 1)
    if ('begun' in item) this.#change(item.begun, 0, one => (one.runs += 1))
    if ('sent' in item) {
      const [key, name, sent] = item.sent
      this.#change(key, weightOf(sent), one => one.sent.set(name, sent))
    }
    if ('done' in item) {
      this.#bytes -= this.#unfinished.get(item.done)?.bytes ?? 0
      this.#unfinished.delete(item.done)
      if (item.again) this.#seen.delete(item.done)
    }
  }

  *items(): Iterable<Item> {
    const seen = [...this.#seen]
    for (let at = 0; at < seen.length; at += MARKS_A_LINE) yield { seen: seen.slice(at, at + MARKS_A_LINE) }
    for (const { key, marks, body, runs, sent } of this.#unfinished.values()) {
      yield { came: { key, marks, body }, runs }
      for (const [name, one] of sent) yield { sent: [key, name, one] }
    }
  }

  /** One that comes again, as it went wrong, goes on with what it has sent. */
  #begin(came: Came, runs: number): void {
    this.#see([came.key, ...came.marks])
    if (!this.#isKept) return
    const before = this.#unfinished.get(came.key)
    if (before) Object.assign(before, { runs, isLeft: false })
    else {
      this.#unfinished.set(came.key, { ...came, runs, sent: new Map(), isLeft: false, bytes: 0 })
      this.#change(came.key, came.body.length, () => {})
    }
  }

  #change(key: string, bytes: number, how: (one: Unfinished) => void): void {
    const one = this.#unfinished.get(key)
    if (!one) return
    how(one)
    one.bytes += bytes
    this.#bytes += bytes
  }

  /** The oldest are forgotten. */
  #see(marks: readonly string[]): void {
    for (const mark of marks) this.#seen.add(mark)
    for (const oldest of this.#seen) {
      if (this.#seen.size <= MOST_MARKS) break
      this.#seen.delete(oldest)
    }
  }
}

const weightOf = (sent: Sent) => JSON.stringify(sent).length
