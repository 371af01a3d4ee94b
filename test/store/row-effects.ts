/**
 * What one function does to the rows of `neighbours.ts`: what it returns, and which rows are others afterwards. Each runs on
 * the same rows, on the engine of the test run, and is undone.
 */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Db, Tx, Value } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { engine, freshDatabase } from '../support/databases.ts'
import { neighbours, type Row } from './neighbours.ts'
import { tables } from './table-rules.ts'

type Work = (tx: Tx) => Promise<unknown>

/** A row of `neighbours.ts`, `table key`, as queries return it: all its fields, or these. */
export type RowNamed = (name: string, fields?: string) => Readonly<Record<string, unknown>>

type Plain = string | number | boolean | null | undefined | readonly unknown[] | Readonly<Record<string, unknown>>

/** `changes`: `− table key`, `+ table key {row}` without what is null, `table key: column before → after`. */
export type Case = readonly [work: Work, returns: Plain | ((row: RowNamed) => Plain), changes?: readonly string[]]

/** One test for each group of cases. */
export function testRows(name: string, groups: Readonly<Record<string, readonly Case[]>>): void {
  const test = suite<{ db: Db; before: Contents; close(): Promise<void> }>(name)
  test.before(async state => void Object.assign(state, await openTables()))
  test.after(({ close }) => close())
  for (const [title, cases] of Object.entries(groups)) {
    test(title, async ({ db, before }) => {
      const row = rowsOf(before)
      for (const [at, [work, returns, changes = []]] of cases.entries()) {
        const found = await outcomeOf(db, before, work)
        const said = `case ${at + 1}: ${work}`
        assert.equal(
          withoutNulls(found.returned),
          withoutNulls(typeof returns === 'function' ? returns(row) : returns),
          said,
        )
        assert.equal(found.changes, changes, said)
      }
    })
  }
  test.run()
}

/** Rows of these columns, a line each. */
export const rowsWith = (columns: string, ...rows: readonly (readonly unknown[])[]) =>
  rows.map(row => Object.fromEntries(columns.split(' ').map((column, at) => [column, row[at]])))

const camel = (column: string) => column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

const rowsOf =
  (contents: Contents): RowNamed =>
  (name, fields) => {
    const all = new Map(Object.entries(contents.get(name) ?? {}).map(([column, value]) => [camel(column), value]))
    const wanted = fields?.split(' ') ?? [...all.keys()]
    assert.ok(all.size > 0 && wanted.every(field => all.has(field)), `${name} has no such row or field`)
    return Object.fromEntries(wanted.map(field => [field, all.get(field)]))
  }

/** What a case says nothing of is null: so a column that is added later changes no case. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).flatMap(([k, one]) => (one === null ? [] : [[k, withoutNulls(one)]])))
}

/** A database with these rows, and what it holds. */
export async function openTables() {
  const database = engine === 'postgres' ? await freshDatabase({ migrated: true }) : null
  const db = database
    ? await openPostgres({ url: database.url, poolSize: 1 })
    : await openSqlite({ file: null, onFatal: error => assert.unreachable(error.message) })
  await migrate(db, migrations, () => 0)
  await db.write(async tx => {
    for (const table of Object.keys(tables).reverse()) await tx.run(`DELETE FROM ${table}`)
    for (const [table, row] of neighbours) await insert(tx, table, row)
  })
  const before = await db.read(contentsOf)
  const close = async () => {
    await db.close()
    await database?.drop()
  }
  return { db, before, close }
}

/** Of a row of which the test says no more than what matters, the rest is as `table-rules.ts` has it. */
export const insert = (tx: Tx, table: string, row: Row) => {
  const names = Object.keys(row)
  return tx.run(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(row),
  )
}

type Contents = Map<string, Record<string, Value>>

export async function contentsOf(q: Pick<Tx, 'all'>): Promise<Contents> {
  const names = Object.keys(tables)
  const found = await Promise.all(names.map(table => q.all<Record<string, Value>>(`SELECT * FROM ${table}`)))
  return new Map(names.flatMap((table, i) => found[i]!.map(row => [`${table} ${keyIn(table, row)}`, row] as const)))
}

const keyIn = (table: string, row: Record<string, Value>) =>
  tables[table]!.unique.at(-1)!
    .split(' ')
    .map(column => row[column])
    .join('/')

const undone = new Error('undone')

async function outcomeOf(db: Db, before: Contents, work: Work) {
  let found: { returned: unknown; changes: string[] } | undefined
  await db
    .write(async tx => {
      const returned = plain(await work(tx))
      found = { returned, changes: differences(before, await contentsOf(tx)) }
      throw undone
    })
    .catch(error => {
      if (error !== undone) throw error
    })
  return found!
}

/** Maps and sets as lists, rows without their prototype. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value, (_, one) => (one instanceof Map ? [...one] : one)))

function differences(before: Contents, after: Contents): string[] {
  const gone = [...before.keys()].filter(key => !after.has(key)).map(key => `− ${key}`)
  const others = [...after].flatMap(([key, row]) => {
    const old = before.get(key)
    if (!old) return [`+ ${key} ${JSON.stringify(present(row))}`]
    const columns = Object.keys(row).filter(column => row[column] !== old[column])
    return columns.length === 0
      ? []
      : [`${key}: ${columns.map(column => `${column} ${old[column]} → ${row[column]}`).join(', ')}`]
  })
  return [...gone, ...others].sort()
}

const present = (row: Record<string, Value>) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
