/** Which rows committed writes have changed: what lets a cache in memory be exact. Figures: A-232. */
import type { Changes } from '../db.ts'

/** What one statement changed. */
export interface Change {
  /** null for a change of the schema. */
  table: string | null
  /** The id of the only row that it changed; null if it may have changed others. */
  id: string | null
}

/** How many changed rows are remembered for each table. Older ones count as not known. */
const KEPT = 1000

interface Log {
  version: number
  /** Changes up to this version are not known. */
  floor: number
  rows: { version: number; id: string }[]
}

export class History implements Changes {
  readonly #logs = new Map<string, Log>()
  #schema = 0

  version(table: string): number {
    return (this.#logs.get(table)?.version ?? 0) + this.#schema
  }

  since(table: string, version: number): ReadonlySet<string> | null {
    const log = this.#logs.get(table)
    const known = version - this.#schema
    if (!log) return known === 0 ? new Set() : null
    if (known < log.floor) return null
    return new Set(log.rows.filter(row => row.version > known).map(row => row.id))
  }

  /** Records a transaction that was just committed. */
  add(effects: readonly Change[]): void {
    const touched = new Set<Log>()
    for (const { table, id } of effects) {
      if (table === null) {
        this.#forget()
        continue
      }
      const log = this.#log(table)
      if (!touched.has(log)) log.version++
      touched.add(log)
      if (id === null) clear(log)
      else log.rows.push({ version: log.version, id })
      if (log.rows.length > KEPT) clear(log)
    }
  }

  #log(table: string): Log {
    const found = this.#logs.get(table) ?? { version: 0, floor: 0, rows: [] }
    this.#logs.set(table, found)
    return found
  }

  // A new schema may change the meaning of every row.
  #forget() {
    this.#schema++
    for (const log of this.#logs.values()) clear(log)
  }
}

function clear(log: Log) {
  log.floor = log.version
  log.rows.length = 0
}
