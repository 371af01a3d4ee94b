/**
 * Each table is one list of columns. The type of its rows follows from the list, and so do the statements that look alike for
 * every table: the columns of a SELECT, an INSERT of one row, an UPDATE of some fields. Rows have camel case, tables snake case.
 */

import { limits } from '../../api/limits.ts'
import type { Reader, Step, Tx, Value } from '../db.ts'
export interface Column<T extends Value = Value, Optional extends boolean = boolean> {
  readonly kind: 'TEXT' | 'INTEGER' | 'BIGINT'
  readonly nullable: boolean
  readonly hasDefault: boolean
  /** A text that somebody writes. It counts in the quota of that account. */
  readonly isWritten: boolean
  /** Only for the compiler: the type of the values, and whether a new row may omit the column. */
  readonly type?: { readonly value: T; readonly optional: Optional }
}

const column = <T extends Value>(kind: Column['kind']): Column<T, false> => ({
  kind,
  nullable: false,
  hasDefault: false,
  isWritten: false,
})

export const text = <T extends string = string>() => column<T>('TEXT')
/** A text that somebody writes, as a title or a URL is: its bytes count in the quota of that account. */
export const written = (): Column<string, false> => ({ ...column<string>('TEXT'), isWritten: true })
/** Up to 2^31 − 1. */
export const integer = <T extends number = number>() => column<T>('INTEGER')
/** Moments in ms, cents, bytes: up to 2^53. */
export const bigint = () => column<number>('BIGINT')
export const flag = () => column<0 | 1>('INTEGER')

/** Null if a new row omits it. */
export const nullable = <T extends Value>({ kind, isWritten }: Column<T, false>): Column<T | null, true> => ({
  kind,
  nullable: true,
  hasDefault: false,
  isWritten,
})

/** The schema's default if a new row omits it. */
export const defaulted = <T extends Value>({ kind, isWritten }: Column<T, false>): Column<T, true> => ({
  kind,
  nullable: false,
  hasDefault: true,
  isWritten,
})

export type Columns = Readonly<Record<string, Column>>

type ValueOf<C> = C extends Column<infer T, boolean> ? T : never
type RowOf<C> = { [K in keyof C]: ValueOf<C[K]> }
type OptionalIn<C> = { [K in keyof C]: C[K] extends Column<Value, true> ? K : never }[keyof C]
type Fields<C> = Partial<RowOf<C>>
type NewRowOf<C> = Omit<RowOf<C>, OptionalIn<C>> & Fields<Pick<C, OptionalIn<C>>>

/** A row as it is read. */
export type Row<T> = T extends Table<infer C> ? RowOf<C> : never
/** A row as it is inserted. It may omit columns that can be null or have a default. */
export type NewRow<T> = T extends Table<infer C> ? NewRowOf<C> : never
/** What an INSERT puts into the columns, as SQL: `$1`, or what the engine computes. */
type ExpressionsOf<C> = { readonly [K in keyof NewRowOf<C>]: string }

/** Some fields of a row. */
export type Patch<T> = T extends Table<infer C> ? Fields<C> : never

/** No table is written with more different sets of fields than this, except agents: a PUT may name any of their fields. */
const KEPT_STATEMENTS = 200

export const table = <C extends Columns>(name: string, columns: C) => new Table(name, columns)

export class Table<C extends Columns> {
  readonly name: string
  readonly columns: C
  /** Whole rows, as SELECT and RETURNING list them: `id, user_id AS "userId"`. */
  readonly all: string
  /** The texts that somebody writes. */
  readonly written: readonly (keyof C & string)[]
  readonly #names: readonly (keyof C & string)[]
  readonly #statements: Statement[] = []

  constructor(name: string, columns: C) {
    this.name = name
    this.columns = columns
    this.#names = Object.keys(columns)
    this.all = this.some(this.#names)
    this.written = this.#names.filter(name => columns[name]!.isWritten)
  }

  /** The same with an alias of the table: `t.id, t.user_id AS "userId"`. */
  as(alias: string): string {
    return this.some(this.#names, alias)
  }

  /** Some columns of it. */
  some(names: readonly (keyof C & string)[], alias = ''): string {
    const before = alias && `${alias}.`
    return names.map(name => before + (snake(name) === name ? name : `${snake(name)} AS "${name}"`)).join(', ')
  }

  /** The text of an INSERT whose values are expressions. It is made once, by the file that runs it. */
  insertValues(rows: readonly ExpressionsOf<C>[], behind = ''): string {
    const names = this.#inOrder(Object.keys(rows[0]!))
    const lists = rows.map(row => `(${this.#expressions(names, row)})`)
    return `${this.#into(names)} VALUES ${lists.join(', ')} ${behind}`.trimEnd()
  }

  /** The same of a row that is selected. `from`: what follows its expressions. */
  insertSelect(row: ExpressionsOf<C>, from: string): string {
    const names = this.#inOrder(Object.keys(row))
    return `${this.#into(names)} SELECT ${this.#expressions(names, row)} ${from}`
  }

  /** What follows an INSERT that replaces these columns of the row that has the key already. */
  replacing(key: readonly (keyof C & string)[], names: readonly (keyof C & string)[]): string {
    const sets = names.map(snake).map(name => `${name} = excluded.${name}`)
    return `ON CONFLICT (${key.map(snake).join(', ')}) DO UPDATE SET ${sets.join(', ')}`
  }

  /** `behind`: what follows the values, such as ON CONFLICT. */
  insertStep(row: NewRowOf<C>, behind = ''): Step {
    const { keys, values } = this.#given(row)
    const sql = this.#sql('insert', keys, NONE, behind, () => {
      const names = this.#inOrder(keys)
      const placeholders = names.map(name => `$${keys.indexOf(name) + 1}`)
      return `${this.#into(names)} VALUES (${placeholders.join(', ')}) ${behind}`
    })
    return { sql, values }
  }

  /** Changes the fields of `patch` in all rows that have the fields of `where`; null stands for IS NULL. */
  updateStep(where: Fields<C>, patch: Fields<C>, behind = ''): Step {
    const to = this.#given(patch)
    const at = this.#given(where)
    // If a condition were dropped, rows of others would change.
    if (at.keys.length < Object.keys(where).length) throw new Error(`A condition on ${this.name} has no value`)
    const values = [...to.values, ...at.values.filter(value => value !== null)]
    const nulls =
      at.keys.length > values.length - to.keys.length ? at.keys.filter((_, i) => at.values[i] === null) : NONE
    const keys = nulls === NONE ? at.keys : at.keys.filter(key => !nulls.includes(key))
    const sql = this.#sql('update', to.keys, nulls === NONE ? keys : [...keys, ...nulls.map(isNull)], behind, () => {
      const sets = this.#inOrder(to.keys).map(name => `${snake(name)} = $${to.keys.indexOf(name) + 1}`)
      const equal = this.#inOrder(keys).map(name => `${snake(name)} = $${to.keys.length + keys.indexOf(name) + 1}`)
      const conditions = [...equal, ...nulls.map(name => isNull(snake(name)))]
      return `UPDATE ${this.name} SET ${sets.join(', ')} WHERE ${conditions.join(' AND ')} ${behind}`
    })
    return { sql, values }
  }

  /** Returns 0 if `behind` lets a conflict do nothing. */
  insert(tx: Tx, row: NewRowOf<C>, behind?: string): Promise<number> {
    const { sql, values } = this.insertStep(row, behind)
    return tx.run(sql, values)
  }

  /** Inserts several rows with the same fields, in one statement. */
  async insertAll(tx: Tx, rows: readonly NewRowOf<C>[]): Promise<number> {
    if (rows.length === 0) return 0
    const given = rows.map(row => this.#given(row))
    const { keys } = given[0]!
    const sql = this.#sql('insert', keys, NONE, `${rows.length} rows`, () => {
      const placeholders = rows.map((_, i) => `(${keys.map((_, j) => `$${i * keys.length + j + 1}`).join(', ')})`)
      return `${this.#into(keys)} VALUES ${placeholders.join(', ')}`
    })
    return tx.run(
      sql,
      given.flatMap(({ values }) => values),
    )
  }

  /** Returns how many rows it changed. */
  update(tx: Tx, where: Fields<C>, patch: Fields<C>): Promise<number> {
    const { sql, values } = this.updateStep(where, patch)
    return tx.run(sql, values)
  }

  /** Returns the changed row; undefined if no row matches `where`. */
  updated(tx: Tx, where: Fields<C>, patch: Fields<C>): Promise<RowOf<C> | undefined> {
    const { sql, values } = this.updateStep(where, patch, `RETURNING ${this.all}`)
    return tx.get<RowOf<C>>(sql, values)
  }

  /** The fields that are columns and not undefined. */
  #given(fields: object): Given {
    const keys = Object.keys(fields)
    const values = Object.values(fields) as (Value | undefined)[]
    if (!values.includes(undefined) && keys.every(key => Object.hasOwn(this.columns, key)))
      return { keys, values: values as Value[] }
    const isGiven = (_: unknown, i: number) => values[i] !== undefined && Object.hasOwn(this.columns, keys[i]!)
    return { keys: keys.filter(isGiven), values: values.filter(isGiven) as Value[] }
  }

  #into(names: readonly string[]): string {
    return `INSERT INTO ${this.name} (${names.map(snake).join(', ')})`
  }

  #expressions(names: readonly string[], row: object): string {
    return names.map(name => (row as Record<string, string>)[name]).join(', ')
  }

  #inOrder(keys: readonly string[]): string[] {
    return this.#names.filter(name => keys.includes(name))
  }

  /**
   * Engines find a prepared statement by its text, so each text is made once. Most tables have few sets of fields. Finding one
   * in an array of ten takes 65 ns; in a map by its joined names it takes 520.
   */
  #sql(
    verb: Statement['verb'],
    fields: readonly string[],
    where: readonly string[],
    behind: string,
    make: () => string,
  ): string {
    const kept = this.#statements.find(
      each => each.verb === verb && each.behind === behind && isSame(each.fields, fields) && isSame(each.where, where),
    )
    if (kept) return kept.sql
    if (this.#statements.length >= KEPT_STATEMENTS) this.#statements.length = 0
    const sql = make().trimEnd()
    this.#statements.push({ verb, fields, where, behind, sql })
    return sql
  }
}

/** The fields that are given, in their order. */
interface Given {
  readonly keys: readonly string[]
  readonly values: readonly Value[]
}

interface Statement {
  readonly verb: 'insert' | 'update'
  readonly fields: readonly string[]
  readonly where: readonly string[]
  readonly behind: string
  readonly sql: string
}

const NONE: readonly string[] = []

const isSame = (a: readonly string[], b: readonly string[]) => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const isNull = (name: string) => `${name} IS NULL`

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/**
 * Whether a text contains another, which is in lower case, without regard to the case of A to Z: engines differ about other letters. LIKE
 * takes six times as long for a text of one letter again and again.
 */
export const contains = (column: string, value: string) => `INSTR(LOWER(${column}), ${value}) > 0`

export const lowerAscii = (text: string) => text.replace(/[A-Z]/g, letter => letter.toLowerCase())

/** Above every text that begins with a prefix stands the prefix with this: no character comes after it. */
export const LAST_CHARACTER = '\u{10FFFF}'

/** Conditions of a WHERE with their values, in the order in which they are added. */
export class Conditions {
  readonly values: Value[] = []
  readonly #all: string[] = []

  /** Returns the placeholder. */
  value(value: Value): string {
    return `$${this.values.push(value)}`
  }

  /** Adds a condition on a value, unless that is null. */
  add<V extends Value>(value: V | null, condition: (placeholder: string) => string): void {
    if (value !== null) this.#all.push(condition(this.value(value)))
  }

  addOneOf(column: string, values: readonly Value[]): void {
    this.#all.push(`${column} IN (${values.map(value => this.value(value)).join(', ')})`)
  }

  get text(): string {
    return this.#all.join(' AND ')
  }
}

const { reach, mebibytes } = limits.page

const PAGE_BYTES = mebibytes * 1024 * 1024

/**
 * How far a part of a page looks that takes `rows`, for its text. A number in the text: Postgres takes a LIMIT that it does not know for
 * a tenth of all rows, so plans the list anew each time. Of a million tasks a page took 1.4 ms to plan and 0.3 to read. A tenth of three
 * parts of 60 is less than the 20 of a page.
 */
export const upTo = (rows: number) => [60, 100, 1_000].find(most => rows <= most) ?? reach

/** Reads a page of a list. Rejects with a TooMuchError, before all of it is read, if it has too much text. Source: A-289. */
export const readPage = <Row>(q: Reader, sql: string, values: readonly Value[]) => q.all<Row>(sql, values, PAGE_BYTES)

/** What a page looks through, as `wanted`, is looked through once: each of its rows says how many are wanted. */
export const IN_ALL = '(SELECT COUNT(*) FROM wanted) AS "inAll"'

/**
 * How many a list has in all. A page that ends before its limit says so, as does one whose rows have `inAll`; else it is what was counted
 * beside the page, or is counted now.
 */
export function totalOf(
  rows: readonly object[],
  [limit, offset]: readonly [limit: number, offset: number],
  counted: number | (() => Promise<number>),
): number | Promise<number> {
  const { inAll } = (rows[0] ?? {}) as { readonly inAll?: number }
  if (inAll !== undefined) return Math.min(inAll, reach)
  const isLast = rows.length > 0 ? rows.length < limit : limit > 0 && offset === 0
  if (isLast) return Math.min(offset + rows.length, reach)
  return typeof counted === 'number' ? counted : counted()
}

/** How long a list that had as many rows as are counted is taken to have them still: counting 10,000 takes 1.2 ms of 3 on Postgres. */
const FULL_MS = 10_000

/**
 * Counts the rows of all parts of a list in one statement, up to the last page that can be shown. Source: A-222. A part is the text
 * `FROM … WHERE …`. `order`: that of an index, which Postgres is to count from: of an account that has half of a table it reads the table.
 */
export async function countShown(q: Reader, parts: readonly string[], values: readonly Value[], order?: string) {
  const most = parts.length > 1 ? ` LIMIT ${reach}` : ''
  const inOrder = (from: string) => (order ? `/*+ ( */ ${from} /*+ ORDER BY ${order}${most}) */` : from)
  const all = parts.map(from => inOrder(`SELECT 1 AS one ${from}`)).join(' UNION ALL ')
  const sql = `SELECT COUNT(*) AS count FROM (${all} LIMIT ${reach}) shown0`
  const list = JSON.stringify([sql, values])
  if (q.full?.get(list)) return reach
  const { count } = (await q.get<{ count: number }>(sql, values))!
  if (count === reach) q.full?.set(list, 1, FULL_MS)
  return count
}
