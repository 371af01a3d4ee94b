/** One unit of work on Postgres: what a caller holds as `q` or `tx`. */
import { type FullLists, type Step, StoreError, TooMuchError, type Tx, type Value } from '../db.ts'
import type { Isolation, Wire } from './connection.ts'
import { translated } from './errors.ts'
import { apart, joinedText, postgresText, sizesText, withinText } from './sql-text.ts'

export class PostgresTx implements Tx {
  readonly changes = null
  readonly full: FullLists | undefined
  readonly #wire: Wire
  readonly #isolation: Isolation
  /** Assumes that each step changes a row, and lets the commit fail if one did not. */
  readonly #trusting: boolean
  readonly #after: (() => void)[] = []
  /** Steps that are not sent yet: those that follow each other go in as few statements as they can. */
  readonly #steps: Step[] = []
  #begun = false
  #ended = false
  #failure: unknown = null

  constructor(wire: Wire, isolation: Isolation, trusting: boolean, full?: FullLists) {
    this.#wire = wire
    this.#isolation = isolation
    this.#trusting = trusting
    this.full = full
  }

  async get<Row>(sql: string, values: readonly Value[] = []) {
    return (await this.#query(sql, values)).rows[0] as Row | undefined
  }

  async all<Row>(sql: string, values: readonly Value[] = [], mostBytes?: number) {
    if (mostBytes === undefined) return (await this.#query(sql, values)).rows as Row[]
    const { rows } = await this.#query(withinText(sql, mostBytes), values)
    if (rows.length === 0) await this.#refuseIfTooMuch(sql, values, mostBytes)
    return rows as Row[]
  }

  /** Without rows there are none, or they have too much text. */
  async #refuseIfTooMuch(sql: string, values: readonly Value[], mostBytes: number) {
    const { rows } = await this.#query(sizesText(sql), values)
    let [room, fit] = [mostBytes, 0]
    for (const { bytes } of rows) {
      room -= Number(bytes)
      if (room < 0) throw new TooMuchError(Math.max(1, fit))
      fit++
    }
  }

  async run(sql: string, values: readonly Value[] = []) {
    return (await this.#query(sql, values)).count
  }

  async runAll(steps: readonly Step[]) {
    if (this.#ended) throw tooLate()
    if (this.#trusting) {
      this.#steps.push(...steps)
      return steps.map(() => true)
    }
    const groups = apart(steps)
    const counts = (await Promise.all(groups.map(group => this.#join(group)))).map(({ rows }) =>
      Object.values(rows[0]!),
    )
    const changed = new Map(groups.flatMap((group, i) => group.map((step, j) => [step, counts[i]![j] !== 0] as const)))
    return steps.map(step => changed.get(step)!)
  }

  #join(group: readonly Step[]) {
    const sql = joinedText(
      group.map(step => step.sql),
      this.#trusting,
    )
    return this.#send(
      sql,
      group.flatMap(step => step.values),
    )
  }

  #sendSteps() {
    if (this.#steps.length === 0) return
    for (const group of apart(this.#steps.splice(0))) this.#join(group).catch(() => {}) // fails the commit too
  }

  async lock(table: string, ...ids: readonly string[]) {
    const which = ids.length === 1 ? '= $1' : `= ANY (string_to_array($1, ',')) ORDER BY id`
    await this.#query(`SELECT id FROM ${table} WHERE id ${which} FOR NO KEY UPDATE`, [ids.join(',')])
  }

  afterCommit(effect: () => void) {
    if (this.#ended) throw tooLate()
    this.#after.push(effect)
  }

  async commit() {
    this.#sendSteps()
    this.#ended = true
    if (!this.#begun) return
    // After an error the server answers COMMIT with a rollback, and does not report that as an error.
    const command = await this.#wire.commit(this.#isolation).catch(error => Promise.reject(this.#fail(error)))
    if (command !== 'COMMIT') throw this.#failure ?? new StoreError(`The transaction has ended by ${command}.`)
  }

  async rollback() {
    this.#ended = true
    if (this.#begun) await this.#wire.rollback()
  }

  runEffects(warn: (message: string) => void) {
    for (const effect of this.#after) {
      try {
        effect()
      } catch (error) {
        warn(`What follows a commit must not throw: ${(error as Error).stack}`)
      }
    }
  }

  #query(sql: string, values: readonly Value[]) {
    this.#sendSteps()
    return this.#send(sql, values)
  }

  async #send(sql: string, values: readonly Value[]) {
    if (this.#ended) throw tooLate()
    if (!this.#begun) this.#wire.begin(this.#isolation)
    this.#begun = true
    try {
      return await this.#wire.ask(postgresText(sql, this.#wire.lacks), values)
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** The first failure counts: whatever was sent behind it fails for it, in words that say nothing of why. */
  #fail(error: unknown) {
    this.#failure ??= translated(error)
    return this.#failure
  }
}

const tooLate = () => new StoreError('This transaction has ended: use it only inside the function that was given it.')
