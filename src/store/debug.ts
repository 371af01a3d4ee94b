/** Debug lines of the topic `sql`: each unit, its statements and how long they took. Values are never told: they hold what users wrote. */
import type { Debug } from '../shared/debug.ts'
import { aroundUnits } from './around.ts'
import type { Db, Step, Tx, UnitKind, Value } from './db.ts'

/** Statements that a line names; a batch may run thousands. */
const MOST_STATEMENTS = 50
const LONGEST_STATEMENT = 300

/** The same database, whose units are told of. One that nobody watches is not wrapped, so that watching costs it nothing. */
export const watchedDb = (db: Db, debug: Debug): Db =>
  aroundUnits(db, async (unit, work, run) => {
    const told = new Told(unit)
    try {
      const value = await run(tx => work(told.tx(tx)))
      debug(told.line('done'))
      return value
    } catch (error) {
      debug(told.line((error as Error).constructor.name))
      throw error
    }
  })

/** One unit, from the call until all that it wrote is durable. */
class Told {
  readonly #unit: UnitKind
  readonly #asked = performance.now()
  #begun = this.#asked
  #runs = 0
  #statements: { sql: string; ms: number }[] = []
  #left = 0

  constructor(unit: UnitKind) {
    this.#unit = unit
  }

  tx(tx: Tx): Tx {
    this.#begin()
    return new WatchedTx(tx, this)
  }

  /** A unit that runs anew tells of its last run, and how many there were. */
  #begin(): void {
    this.#runs++
    this.#begun = performance.now()
    this.#statements = []
    this.#left = 0
  }

  /** Asks at once: statements of one breath travel together. */
  async timed<T>(sql: string, ask: () => Promise<T>): Promise<T> {
    const started = performance.now()
    try {
      return await ask()
    } finally {
      this.#add(sql, performance.now() - started)
    }
  }

  #add(sql: string, ms: number): void {
    if (this.#statements.length === MOST_STATEMENTS) this.#left++
    else this.#statements.push({ sql: shortened(sql), ms: rounded(ms) })
  }

  line(outcome: string) {
    return {
      unit: this.#unit,
      outcome,
      waitMs: rounded(this.#begun - this.#asked),
      ms: rounded(performance.now() - this.#asked),
      ...(this.#runs > 1 && { runs: this.#runs }),
      statements: this.#statements,
      ...(this.#left > 0 && { more: this.#left }),
    }
  }
}

/** Of a read too, which asks no more of it than of a reader. */
class WatchedTx implements Tx {
  readonly #tx: Tx
  readonly #told: Told

  constructor(tx: Tx, told: Told) {
    this.#tx = tx
    this.#told = told
  }

  get changes() {
    return this.#tx.changes
  }

  get full() {
    return this.#tx.full
  }

  get<Row>(sql: string, values?: readonly Value[]) {
    return this.#told.timed(sql, () => this.#tx.get<Row>(sql, values))
  }

  all<Row>(sql: string, values?: readonly Value[], mostBytes?: number) {
    return this.#told.timed(sql, () => this.#tx.all<Row>(sql, values, mostBytes))
  }

  run(sql: string, values?: readonly Value[]) {
    return this.#told.timed(sql, () => this.#tx.run(sql, values))
  }

  runAll(steps: readonly Step[]) {
    return this.#told.timed(steps.map(({ sql }) => sql).join('; '), () => this.#tx.runAll(steps))
  }

  lock(table: string, ...ids: readonly string[]) {
    return this.#told.timed(`lock a row of ${table}`, () => this.#tx.lock(table, ...ids))
  }

  afterCommit(effect: () => void) {
    this.#tx.afterCommit(effect)
  }
}

function shortened(sql: string): string {
  const line = sql.replace(/\s+/g, ' ').trim()
  return line.length > LONGEST_STATEMENT ? `${line.slice(0, LONGEST_STATEMENT)}…` : line
}

const rounded = (ms: number) => Math.round(ms * 100) / 100
