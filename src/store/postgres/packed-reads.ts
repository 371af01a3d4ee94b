/** Reads that send all their statements at once. Those of the same moment share a connection and a packet. */
import type { Reader, Value } from '../db.ts'
import { translated } from './errors.ts'
import type { PackedRead, Result } from './sender.ts'
import { postgresText } from './sql-text.ts'

/** How many packets may be under way. With more, each would carry fewer reads and still wake a server process. */
const AT_ONCE = 2

/** The statements that one unit issues together. They fail without affecting other units. */
interface Group {
  readonly reads: PackedRead[]
  /** Nothing can be added any more. */
  sent: boolean
}

export class PackedReads {
  readonly #carry: (groups: readonly (readonly PackedRead[])[]) => Promise<void>
  #waiting: Group[] = []
  #underWay = 0
  #scheduled = false

  /** `carry` sends all at once and resolves when each has been answered or has failed; it never rejects. */
  constructor(carry: (groups: readonly (readonly PackedRead[])[]) => Promise<void>) {
    this.#carry = carry
  }

  read<T>(work: (q: Reader) => Promise<T>): Promise<T> {
    return work(new PackingReader(group => this.#add(group)))
  }

  #add(group: Group) {
    this.#waiting.push(group)
    this.#schedule()
  }

  // Runs after the poll phase, so that the reads of all requests that have arrived by now travel together.
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
    const groups = this.#waiting.splice(0)
    for (const group of groups) group.sent = true
    await this.#carry(groups.map(({ reads }) => reads))
    this.#underWay--
    this.#schedule()
  }
}

/** What it asks goes into one group, and into another once that is under way. */
class PackingReader implements Reader {
  readonly changes = null
  readonly #add: (group: Group) => void
  #group: Group | null = null

  constructor(add: (group: Group) => void) {
    this.#add = add
  }

  async get<Row>(sql: string, values: readonly Value[] = []) {
    return (await this.#ask(sql, values)).rows[0] as Row | undefined
  }

  async all<Row>(sql: string, values: readonly Value[] = []) {
    return (await this.#ask(sql, values)).rows as Row[]
  }

  async #ask(sql: string, values: readonly Value[]): Promise<Result> {
    const { text, name } = postgresText(sql)
    try {
      return await new Promise((resolve, reject) => {
        const read = { asked: { text, name, values }, resolve, reject }
        if (this.#group && !this.#group.sent) return this.#group.reads.push(read)
        this.#group = { reads: [read], sent: false }
        this.#add(this.#group)
      })
    } catch (error) {
      throw translated(error)
    }
  }
}
