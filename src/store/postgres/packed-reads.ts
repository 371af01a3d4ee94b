/** Reads that are done with what they ask at first: those of one moment share a connection and a packet. */
import type { Reader, Value } from '../db.ts'
import { Batch, type Columns, type Result } from './batch.ts'
import { translated } from './errors.ts'
import { postgresText } from './sql-text.ts'

/** Packets under way at once: with more, each would carry less, and wake a process of the server for it. */
const AT_ONCE = 2

export class Glances {
  readonly #columns: Columns
  readonly #carry: (batches: readonly Batch[]) => Promise<void>
  #waiting: Batch[] = []
  #underWay = 0
  #scheduled = false

  /** `carry` sends all at once and resolves when each has been answered or has failed; it never rejects. */
  constructor(columns: Columns, carry: (batches: readonly Batch[]) => Promise<void>) {
    this.#columns = columns
    this.#carry = carry
  }

  read<T>(work: (q: Reader) => Promise<T>): Promise<T> {
    return work(new Glance(() => this.#open()))
  }

  #open(): Batch {
    const batch = new Batch(this.#columns)
    this.#waiting.push(batch)
    this.#schedule()
    return batch
  }

  // After the poll phase: all requests that have arrived by now travel together.
  #schedule() {
    if (this.#scheduled || this.#underWay >= AT_ONCE || this.#waiting.length === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      void this.#send()
    })
  }

  async #send() {
    this.#underWay++
    await this.#carry(this.#waiting.splice(0))
    this.#underWay--
    this.#schedule()
  }
}

/** What one unit asks goes into a batch of its own, which fails alone; what it asks later, into another. */
class Glance implements Reader {
  readonly changes = null
  readonly #open: () => Batch
  #batch: Batch | null = null

  constructor(open: () => Batch) {
    this.#open = open
  }

  async get<Row>(sql: string, values: readonly Value[] = []) {
    return (await this.#ask(sql, values)).rows[0] as Row | undefined
  }

  async all<Row>(sql: string, values: readonly Value[] = []) {
    return (await this.#ask(sql, values)).rows as Row[]
  }

  async #ask(sql: string, values: readonly Value[]): Promise<Result> {
    if (!this.#batch || this.#batch.sent) this.#batch = this.#open()
    const { text, name } = postgresText(sql)
    try {
      return await this.#batch.add(text, name, values)
    } catch (error) {
      throw translated(error)
    }
  }
}
