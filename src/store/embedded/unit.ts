/** One unit on the embedded engine: what `work` receives as `q` or `tx`. */
import {
  type Changes,
  ConstraintError,
  type FullLists,
  LostError,
  type Step,
  StoreError,
  TooMuchError,
  type Tx,
  type Value,
} from '../db.ts'
import type { Change } from './changes.ts'
import type { Effect, Engine, Result } from './statements.ts'

const NONE: readonly Value[] = []

export class Unit implements Tx {
  readonly #engine: Engine
  readonly #mayWrite: boolean
  #begun = false
  #ended = false
  #broken: unknown
  readonly #changes: Changes | null
  readonly full: FullLists | undefined
  readonly effects: Effect[] = []
  readonly written: Change[] = []
  readonly after: (() => void)[] = []

  constructor(engine: Engine, mayWrite: boolean, changes: Changes | null = null, full?: FullLists) {
    this.#engine = engine
    this.#mayWrite = mayWrite
    this.#changes = changes
    this.full = full
  }

  /** Set if the database in memory was lost during this unit. */
  get lost() {
    return this.#broken instanceof LostError ? this.#broken : null
  }

  get changes() {
    return this.#begun ? null : this.#changes
  }

  async get<Row>(sql: string, values = NONE) {
    return this.#execute(sql, values, 1).rows[0] as Row | undefined
  }

  async all<Row>(sql: string, values = NONE, mostBytes = Number.POSITIVE_INFINITY) {
    return this.#execute(sql, values, Number.POSITIVE_INFINITY, mostBytes).rows as Row[]
  }

  async run(sql: string, values = NONE) {
    return this.#execute(sql, values, 0).changed
  }

  async runAll(steps: readonly Step[]) {
    return steps.map(({ sql, values }) => this.#execute(sql, values, 0).changed > 0)
  }

  async lock() {
    if (this.#ended) throw tooLate()
  }

  afterCommit(effect: () => void) {
    if (this.#ended) throw tooLate()
    this.after.push(effect)
  }

  commit() {
    if (this.#broken) throw this.#broken
    if (this.#begun) this.#engine.commit(this.effects)
    this.#begun = false
    this.#ended = true
  }

  rollback() {
    this.#ended = true
    this.effects.length = 0
    try {
      if (this.#begun && !this.lost) this.#engine.rollback()
    } catch (error) {
      this.#broken = error
    }
    this.#begun = false
  }

  end() {
    this.#ended = true
  }

  #execute(sql: string, values: readonly Value[], mostRows: number, mostBytes = Number.POSITIVE_INFINITY): Result {
    if (this.#ended) throw tooLate()
    if (this.#broken) throw this.#broken
    try {
      const prepared = this.#engine.prepare(sql)
      const { kind, table, row } = prepared.text
      if (kind === 'read') {
        if (mostRows === 0) throw new TypeError(`Not for run, which writes: ${sql}`)
        return this.#engine.run(prepared, values, mostRows, mostBytes)
      }
      if (!this.#mayWrite) throw new TypeError(`A read can't write: ${sql}`)
      if (!this.#begun) this.#engine.begin()
      this.#begun = true
      const result = this.#engine.run(prepared, values, mostRows)
      if (result.changed === 0) return result // nothing has changed, so there is nothing to record
      const id = row === null ? null : String(values[row - 1])
      this.effects.push({ sql, changed: result.changed, values: result.bound })
      this.written.push({ table, id })
      return result
    } catch (error) {
      // A violated constraint undoes only its own statement. After any other error the state is unknown, so the unit can't
      // commit.
      if (!(error instanceof ConstraintError || error instanceof TooMuchError)) this.#broken = error
      throw error
    }
  }
}

const tooLate = () => new StoreError('This transaction has ended: use it only inside the function that was given it.')
