/**
 * One list of columns per table. The type of its rows comes from it, and the text of what is the same for every table:
 * the columns of a SELECT, an INSERT of one row, an UPDATE of some fields. Rows have camel case where tables have snake case.
 */
import type { Step, Tx, Value } from '../db.ts'

export interface Column<T extends Value = Value, Optional extends boolean = boolean> {
  readonly kind: 'TEXT' | 'INTEGER' | 'BIGINT'
  readonly nullable: boolean
  readonly hasDefault: boolean
  /** For the compiler alone: what its values are, and whether a new row may leave it out. */
  readonly type?: { readonly value: T; readonly optional: Optional }
}

const column = <T extends Value>(kind: Column['kind']): Column<T, false> => ({
  kind,
  nullable: false,
  hasDefault: false,
})

export const text = <T extends string = string>() => column<T>('TEXT')
/** Up to 2^31 − 1. */
export const integer = <T extends number = number>() => column<T>('INTEGER')
/** Moments in ms, cents, bytes: up to 2^53. */
export const bigint = () => column<number>('BIGINT')
export const flag = () => column<0 | 1>('INTEGER')

/** Null in a new row that leaves it out. */
export const nullable = <T extends Value>({ kind }: Column<T, false>): Column<T | null, true> => ({
  kind,
  nullable: true,
  hasDefault: false,
})

/** The schema says what it is in a new row that leaves it out. */
export const defaulted = <T extends Value>({ kind }: Column<T, false>): Column<T, true> => ({
  kind,
  nullable: false,
  hasDefault: true,
})

export type Columns = Readonly<Record<string, Column>>

type ValueOf<C> = C extends Column<infer T, boolean> ? T : never
type RowOf<C> = { [K in keyof C]: ValueOf<C[K]> }
type OptionalIn<C> = { [K in keyof C]: C[K] extends Column<Value, true> ? K : never }[keyof C]
type Fields<C> = Partial<RowOf<C>>
type NewRowOf<C> = Omit<RowOf<C>, OptionalIn<C>> & Fields<Pick<C, OptionalIn<C>>>

/** A row as it is read. */
export type Row<T> = T extends Table<infer C> ? RowOf<C> : never
/** A row as it is inserted: without it may be what can be null or has a default. */
export type NewRow<T> = T extends Table<infer C> ? NewRowOf<C> : never
/** Some fields of a row. */
export type Patch<T> = T extends Table<infer C> ? Fields<C> : never

/** A number has so many bits. */
const MOST_COLUMNS = 53

/** Most tables have fewer sets of fields that are written together. One with more makes its texts anew. */
const KEPT_TEXTS = 500

export const table = <C extends Columns>(name: string, columns: C) => new Table(name, columns)

/** @internal Tests find the records by it. */
export class Table<C extends Columns> {
  readonly name: string
  readonly columns: C
  /** Whole rows, as SELECT and RETURNING list them: `id, user_id AS "userId"`. */
  readonly all: string
  readonly #names: readonly (keyof C & string)[]
  // Engines know a prepared statement by its text, so a text is made once.
  readonly #texts = new Map<string, string>()

  constructor(name: string, columns: C) {
    this.name = name
    this.columns = columns
    this.#names = Object.keys(columns)
    if (this.#names.length > MOST_COLUMNS) throw new Error(`${name} has more than ${MOST_COLUMNS} columns`)
    this.all = this.some(this.#names)
  }

  /** The same where the table has an alias in its statement: `t.id, t.user_id AS "userId"`. */
  as(alias: string): string {
    return this.some(this.#names, alias)
  }

  /** Some columns of it. */
  some(names: readonly (keyof C & string)[], alias = ''): string {
    const before = alias && `${alias}.`
    return names.map(name => before + (snake(name) === name ? name : `${snake(name)} AS "${name}"`)).join(', ')
  }

  /** `behind`: what follows the values, such as ON CONFLICT. */
  insertStep(row: NewRowOf<C>, behind = ''): Step {
    const { set, values } = this.#read(row)
    const sql = this.#text(`insert ${set} ${behind}`, () => {
      const names = this.#given(row)
      return `INSERT INTO ${this.name} (${names.map(snake).join(', ')}) VALUES ${placesOf(names, 0)} ${behind}`
    })
    return { sql, values }
  }

  /** Changes the fields of `patch` in all rows that have the fields of `where`; null stands for IS NULL. */
  updateStep(where: Fields<C>, patch: Fields<C>, behind = ''): Step {
    const fields = this.#read(patch)
    const keys = this.#read(where)
    const nulls = keys.values.includes(null) ? keys.values.map(value => (value === null ? 'null' : 'value')) : ''
    const sql = this.#text(`update ${fields.set} ${keys.set} ${nulls} ${behind}`, () => {
      let place = 0
      const sets = this.#given(patch).map(name => `${snake(name)} = $${++place}`)
      const conditions = this.#given(where).map(name =>
        where[name] === null ? `${snake(name)} IS NULL` : `${snake(name)} = $${++place}`,
      )
      return `UPDATE ${this.name} SET ${sets.join(', ')} WHERE ${conditions.join(' AND ')} ${behind}`
    })
    return { sql, values: [...fields.values, ...keys.values.filter(value => value !== null)] }
  }

  /** Returns 0 where `behind` has a conflict do nothing. */
  insert(tx: Tx, row: NewRowOf<C>, behind?: string): Promise<number> {
    const { sql, values } = this.insertStep(row, behind)
    return tx.run(sql, values)
  }

  /** Several rows that have the same fields, in one statement. */
  async insertAll(tx: Tx, rows: readonly NewRowOf<C>[]): Promise<number> {
    if (rows.length === 0) return 0
    const read = rows.map(row => this.#read(row))
    const sql = this.#text(`insert ${rows.length} ${read[0]!.set}`, () => {
      const names = this.#given(rows[0]!)
      const places = rows.map((_, i) => placesOf(names, i * names.length))
      return `INSERT INTO ${this.name} (${names.map(snake).join(', ')}) VALUES ${places.join(', ')}`
    })
    return tx.run(
      sql,
      read.flatMap(({ values }) => values),
    )
  }

  /** Returns how many rows it changed. */
  update(tx: Tx, where: Fields<C>, patch: Fields<C>): Promise<number> {
    const { sql, values } = this.updateStep(where, patch)
    return tx.run(sql, values)
  }

  /** Returns the row as it is then; undefined if none is as `where` says. */
  updated(tx: Tx, where: Fields<C>, patch: Fields<C>): Promise<RowOf<C> | undefined> {
    const { sql, values } = this.updateStep(where, patch, `RETURNING ${this.all}`)
    return tx.get<RowOf<C>>(sql, values)
  }

  /**
   * The values that are given, in the order of the columns, and which they are, as a number with a bit for each column.
   * Every write comes here: with names instead of bits it took 0.77 µs instead of 0.16.
   */
  #read(fields: object): { set: number; values: Value[] } {
    const values: Value[] = []
    let set = 0
    for (const name of this.#names) {
      const value = (fields as Readonly<Record<string, Value | undefined>>)[name]
      set *= 2
      if (value === undefined) continue
      set += 1
      values.push(value)
    }
    return { set, values }
  }

  #given(fields: object): (keyof C & string)[] {
    return this.#names.filter(name => (fields as Readonly<Record<string, unknown>>)[name] !== undefined)
  }

  #text(key: string, make: () => string): string {
    const kept = this.#texts.get(key)
    if (kept !== undefined) return kept
    if (this.#texts.size >= KEPT_TEXTS) this.#texts.clear()
    const made = make().trimEnd()
    this.#texts.set(key, made)
    return made
  }
}

const placesOf = (names: readonly string[], before: number) =>
  `(${names.map((_, i) => `$${before + i + 1}`).join(', ')})`

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
