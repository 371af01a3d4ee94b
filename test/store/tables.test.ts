// engines: embedded, postgres; process: shared
/** The record of each table says what the schema says, and the statements that are made of it do what they say. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Db } from '../../src/store/db.ts'
import {
  bigint,
  type Column,
  contains,
  defaulted,
  integer,
  lowerAscii,
  nullable,
  type Table,
  table,
  text,
} from '../../src/store/tables/table.ts'
import { engine } from '../support/databases.ts'
import { sameNames } from '../support/same-names.ts'
import { openTables } from './row-effects.ts'
import { records, tables as rules, snake } from './table-rules.ts'

const test = suite<{ db: Db; close(): Promise<void> }>('the records of tables')

test.before(async state => void Object.assign(state, await openTables()))
test.after(({ close }) => close())

interface ColumnOf {
  name: string
  kind: string
  nullable: boolean
  hasDefault: boolean
}

/** SQLite has one kind of whole numbers. */
const kindHere = (kind: string) => (engine === 'embedded' && kind === 'BIGINT' ? 'INTEGER' : kind)

const inWords = ({ name, kind, nullable, hasDefault }: ColumnOf) =>
  `${name} ${kindHere(kind)}${nullable ? '' : ', never null'}${hasDefault ? ', with a default' : ''}`

const ofSqlite = `SELECT name, type AS kind, CASE WHEN "notnull" = 1 OR pk > 0 THEN 0 ELSE 1 END AS nullable,
  CASE WHEN dflt_value IS NULL THEN 0 ELSE 1 END AS "hasDefault" FROM pragma_table_info($1)`
const ofPostgres = `SELECT column_name AS name, UPPER(data_type) AS kind,
  CASE is_nullable WHEN 'YES' THEN 1 ELSE 0 END AS nullable, CASE WHEN column_default IS NULL THEN 0 ELSE 1 END AS "hasDefault"
  FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1`

async function inSchema(db: Db, name: string): Promise<string[]> {
  const sql = engine === 'postgres' ? ofPostgres : ofSqlite
  const rows = await db.read(q =>
    q.all<{ name: string; kind: string; nullable: 0 | 1; hasDefault: 0 | 1 }>(sql, [name]),
  )
  return rows.map(row => inWords({ ...row, nullable: row.nullable === 1, hasDefault: row.hasDefault === 1 }))
}

const inRecord = ({ columns }: Table<Record<string, Column>>): string[] =>
  Object.entries(columns).map(([name, column]) => inWords({ name: snake(name), ...column }))

test('every table has one record, with its columns, their kinds, and what a new row may leave out', async ({ db }) => {
  sameNames(
    Object.keys(rules),
    records.map(({ name }) => name),
  )
  for (const record of records)
    sameNames(inRecord(record), await inSchema(db, record.name), `columns of ${record.name}`)
})

const things = table('things', {
  id: text(),
  ownerId: text(),
  size: nullable(integer()),
  made: defaulted(bigint()),
})

test('columns are listed whole or in part, and behind an alias', () => {
  assert.is(things.all, 'id, owner_id AS "ownerId", size, made')
  assert.is(things.as('t'), 't.id, t.owner_id AS "ownerId", t.size, t.made')
  assert.is(things.some(['made', 'ownerId'], 't'), 't.made, t.owner_id AS "ownerId"')
})

test('an insert has the fields that are given and that the table has, whatever their order', () => {
  assert.equal(things.insertStep({ made: 3, ownerId: 'o', id: 'a' }), {
    sql: 'INSERT INTO things (id, owner_id, made) VALUES ($3, $2, $1)',
    values: [3, 'o', 'a'],
  })
  const others = { colour: 'red', made: undefined as unknown as number }
  const more = { id: 'a', ownerId: 'o', size: null, ...others }
  assert.equal(things.insertStep(more, 'ON CONFLICT (id) DO NOTHING'), {
    sql: 'INSERT INTO things (id, owner_id, size) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
    values: ['a', 'o', null],
  })
})

test('an insert of expressions names the columns that they fill, in the order of the table', () => {
  const row = { made: '$2 + 1', ownerId: '$1', id: '$3' }
  assert.is(things.insertValues([row]), 'INSERT INTO things (id, owner_id, made) VALUES ($3, $1, $2 + 1)')
  assert.is(
    things.insertValues([row, { id: `'b'`, made: '0', ownerId: '$1' }], 'ON CONFLICT (id) DO NOTHING'),
    `INSERT INTO things (id, owner_id, made) VALUES ($3, $1, $2 + 1), ('b', $1, 0) ON CONFLICT (id) DO NOTHING`,
  )
  assert.is(
    things.insertSelect({ ownerId: 'id', id: '$1' }, 'FROM owners WHERE id = $2'),
    'INSERT INTO things (id, owner_id) SELECT $1, id FROM owners WHERE id = $2',
  )
  assert.is(
    things.replacing(['id', 'ownerId'], ['size', 'made']),
    'ON CONFLICT (id, owner_id) DO UPDATE SET size = excluded.size, made = excluded.made',
  )
})

test('an update changes the fields that are given where others are equal, or null', () => {
  assert.equal(things.updateStep({ ownerId: 'o', id: 'a' }, { made: 3, size: null }), {
    sql: 'UPDATE things SET size = $2, made = $1 WHERE id = $4 AND owner_id = $3',
    values: [3, null, 'o', 'a'],
  })
  assert.equal(things.updateStep({ size: null, id: 'a' }, { size: 1 }, 'RETURNING id'), {
    sql: 'UPDATE things SET size = $1 WHERE id = $2 AND size IS NULL RETURNING id',
    values: [1, 'a'],
  })
  assert.is(things.updateStep({ size: 1 }, { size: 2 }).sql, 'UPDATE things SET size = $1 WHERE size = $2')
  assert.is(things.updateStep({ size: null }, { size: 2 }).sql, 'UPDATE things SET size = $1 WHERE size IS NULL')
})

test('an update is refused where a condition has no value or no column: it would change the rows of others', () => {
  const patch = { size: 1 }
  for (const where of [
    { id: 'a', ownerId: undefined },
    { id: 'a', constructor: 'o' },
  ]) {
    assert.throws(() => things.updateStep(where as never, patch), 'A condition on things has no value')
  }
  assert.is(
    things.updateStep({ id: 'a' }, { ...patch, constructor: 'o' } as never).sql,
    'UPDATE things SET size = $1 WHERE id = $2',
  )
})

test('engines know a statement by its text, so the same fields have the same one', () => {
  const sql = (id: string) => things.updateStep({ id }, { size: 1, made: 2 }).sql
  assert.is(sql('a'), sql('b'))
  assert.is.not(sql('a'), things.insertStep({ id: 'a', ownerId: 'o', size: 1, made: 2 }).sql)
})

test('a statement is not taken for one of as many other fields', () => {
  const jars = table('jars', { id: text(), label: text(), coins: bigint(), lids: bigint() })
  const sql = () => [
    jars.updateStep({ id: 'a' }, { coins: 1 }).sql,
    jars.updateStep({ label: 'a' }, { lids: 1 }).sql,
    jars.updateStep({ id: 'a' }, { lids: 1 }).sql,
    jars.updateStep({ label: 'a' }, { coins: 1 }).sql,
  ]
  const all = [
    'UPDATE jars SET coins = $1 WHERE id = $2',
    'UPDATE jars SET lids = $1 WHERE label = $2',
    'UPDATE jars SET lids = $1 WHERE id = $2',
    'UPDATE jars SET coins = $1 WHERE label = $2',
  ]
  assert.equal([sql(), sql()], [all, all])
})

async function isTrue(db: Db, condition: string, text: string, part: string): Promise<boolean> {
  const row = await db.read(q =>
    q.get<{ found: number }>(`SELECT CASE WHEN ${condition} THEN 1 ELSE 0 END AS found`, [text, part]),
  )
  return row!.found === 1
}

test('a text contains another whatever its signs, and whatever the case of A to Z', async ({ db }) => {
  const text = '50%_Off \\ Ä'
  const found = []
  for (const part of ['0%_o', '\\ Ä', '', text, '5_', '%%', 'offf'])
    found.push(await isTrue(db, contains('$1', '$2'), text, lowerAscii(part)))
  assert.equal(found, [true, true, true, true, false, false, false])
})

test('several rows go in one statement, and none in none', async ({ db }) => {
  const seen: unknown[] = []
  await db.read(async q => {
    const tx = Object.assign(Object.create(q), {
      run: async (...asked: unknown[]) => {
        seen.push(asked)
        return 2
      },
    })
    assert.is(await things.insertAll(tx, []), 0)
    const rows = [
      { id: 'a', ownerId: 'o', made: 1 },
      { id: 'b', ownerId: 'p', made: 2 },
    ]
    assert.is(await things.insertAll(tx, rows), 2)
  })
  assert.equal(seen, [
    ['INSERT INTO things (id, owner_id, made) VALUES ($1, $2, $3), ($4, $5, $6)', ['a', 'o', 1, 'b', 'p', 2]],
  ])
})

test.run()
