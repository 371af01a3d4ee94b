/** Debug lines of the topic `sql`: each unit, its statements and how long they took. Values are never told: they hold what users wrote. */
import type { Debug } from '../shared/debug.ts'
import type { Db, Reader, Step, Tx, Value } from './db.ts'

/** Statements that a line names; a batch may run thousands. */
const MOST_STATEMENTS = 50
const LONGEST_STATEMENT = 300

type Unit = 'read' | 'readCommitted' | 'write' | 'migrate'

/** The same database, whose units are told of. One that nobody watches is not wrapped, so that watching costs it nothing. */
export function watchedDb(db: Db, debug: Debug): Db {
  const watch = async <T>(unit: Unit, run: (told: Told) => Promise<T>): Promise<T> => {
    const told = new Told(unit)
    try {
      const value = await run(told)
      debug(told.line('done'))
      return value
    } catch (error) {
      debug(told.line((error as Error).constructor.name))
      throw error
    }
  }
  return {
    read: (work, flow) => watch('read', told => db.read(q => work(told.reader(q)), flow)),
    readCommitted: work => watch('readCommitted', told => db.readCommitted(q => work(told.reader(q)))),
    write: (work, flow) => watch('write', told => db.write(tx => work(told.tx(tx)), flow)),
    migrate: work => watch('migrate', told => db.migrate(tx => work(told.tx(tx)))),
    ready: () => db.ready(),
    close: () => db.close(),
    get shared() {
      return db.shared
    },
    get waiting() {
      return db.waiting
    },
    get fill() {
      return db.fill
    },
    get isFull() {
      return db.isFull
    },
  }
}

/** One unit, from the call until all that it wrote is durable. */
class Told {
  readonly #unit: Unit
  readonly #asked = performance.now()
  #begun = this.#asked
  #runs = 0
  #statements: { sql: string; ms: number }[] = []
  #left = 0

  constructor(unit: Unit) {
    this.#unit = unit
  }

  reader(q: Reader): Reader {
    this.#begin()
    return new WatchedReader(q, this)
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

class WatchedReader implements Reader {
  readonly #q: Reader
  readonly #told: Told

  constructor(q: Reader, told: Told) {
    this.#q = q
    this.#told = told
  }

  get changes() {
    return this.#q.changes
  }

  get<Row>(sql: string, values?: readonly Value[]) {
    return this.#told.timed(sql, () => this.#q.get<Row>(sql, values))
  }

  all<Row>(sql: string, values?: readonly Value[], mostBytes?: number) {
    return this.#told.timed(sql, () => this.#q.all<Row>(sql, values, mostBytes))
  }
}

class WatchedTx extends WatchedReader implements Tx {
  readonly #tx: Tx
  readonly #told: Told

  constructor(tx: Tx, told: Told) {
    super(tx, told)
    this.#tx = tx
    this.#told = told
  }

  run(sql: string, values?: readonly Value[]) {
    return this.#told.timed(sql, () => this.#tx.run(sql, values))
  }

  runAll(steps: readonly Step[]) {
    return this.#told.timed(steps.map(({ sql }) => sql).join('; '), () => this.#tx.runAll(steps))
  }

  lock(table: string, id: string) {
    return this.#told.timed(`lock a row of ${table}`, () => this.#tx.lock(table, id))
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
