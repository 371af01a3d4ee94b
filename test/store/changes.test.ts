// engines: embedded; process: shared
/** What caches are told of committed writes: never too little. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { History } from '../../src/store/embedded/changes.ts'
import { openSqlite, type SqliteDb } from '../../src/store/embedded/database.ts'
import { readSqlText } from '../../src/store/embedded/sql-text.ts'

const open = async () => {
  const db = await openSqlite({ file: null, onFatal: error => assert.unreachable(error.message) })
  await db.write(tx => tx.run('CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT UNIQUE, size INTEGER)'))
  return db
}
const changes = (db: SqliteDb) => db.read(async q => q.changes!)
const since = async (db: SqliteDb, version: number) => {
  const ids = (await changes(db)).since('things', version)
  return ids && [...ids].sort()
}
const insert = (db: SqliteDb, id: string) =>
  db.write(tx => tx.run('INSERT INTO things (id, name) VALUES ($1, $2)', [id, `${id}'s name`]))

test('only a statement that names its one row by id is known to change no other', () => {
  const known: [string, number | null][] = [
    ['UPDATE a SET b = $2, c = COALESCE($3, c)\n  WHERE id = $1', 1],
    ['UPDATE a SET b = $1 WHERE id = $2 AND (c = 1 OR d = 2) RETURNING id', 2],
    ['DELETE FROM a WHERE id = $1', 1],
    ['INSERT INTO a (id, b) VALUES ($1, $2) ON CONFLICT (b) DO NOTHING', 1],
    ['UPDATE a SET b = 1 WHERE id = $1 OR c = 2', null],
    ['UPDATE a SET b = 1 WHERE id = $1 AND c = 1 OR d = 2', null],
    ['UPDATE a SET b = 1 WHERE id IN (SELECT id FROM a WHERE id = $1)', null],
    ['UPDATE a SET id = $2 WHERE id = $1', null],
    ['UPDATE a SET b = 1 WHERE b_id = $1', null],
    ["UPDATE a SET b = ')' WHERE id = $1", null],
    ['DELETE FROM a WHERE b = $1', null],
    ['INSERT INTO a (id, b) VALUES ($1, $2), ($3, $4)', null],
    ['INSERT INTO a (id, b) VALUES ($1, $2) ON CONFLICT (b) DO UPDATE SET c = 1', null],
    ['INSERT INTO a (b, id) VALUES ($1, $2)', null],
    ['INSERT INTO a (id, b) SELECT id, b FROM c WHERE id = $1', null],
  ]
  for (const [sql, row] of known) assert.is(readSqlText(sql).row, row, sql)
})

test('the rows that changed after a version are named, and no older ones', async () => {
  const db = await open()
  await insert(db, 'one')
  const version = (await changes(db)).version('things')
  assert.equal(await since(db, version), [])
  await insert(db, 'two')
  await db.write(tx => tx.run('UPDATE things SET size = 1 WHERE id = $1', ['one']))
  assert.is((await changes(db)).version('things'), version + 2)
  assert.equal(await since(db, version), ['one', 'two'])
  await db.close()
})

test('what is rolled back changed nothing', async () => {
  const db = await open()
  const version = (await changes(db)).version('things')
  const undone = db.write(async tx => {
    await tx.run('INSERT INTO things (id) VALUES ($1)', ['one'])
    throw new Error('undone')
  })
  await undone.catch(() => {})
  assert.is((await changes(db)).version('things'), version)
  await db.close()
})

test('after a change of many rows, of the schema, or of too many to keep, nobody knows which', async () => {
  const db = await open()
  const version = async () => (await changes(db)).version('things')
  let before = await version()
  await insert(db, 'one')
  await db.write(tx => tx.run('UPDATE things SET size = 2'))
  assert.is(await since(db, before), null)
  before = await version()
  await db.write(tx => tx.run('ALTER TABLE things ADD COLUMN colour TEXT'))
  assert.is.not(await version(), before)
  assert.is(await since(db, before), null)
  before = await version()
  for (let n = 0; n < 1001; n++) await insert(db, `row ${n}`)
  assert.is(await since(db, before), null)
  await db.close()
})

test('of a table that nobody has written nothing has changed, until the schema has', () => {
  const history = new History()
  const before = history.version('things')
  assert.equal(history.since('things', before), new Set())
  history.add([{ table: null, id: null }])
  assert.is(history.since('things', before), null)
  assert.equal(history.since('things', history.version('things')), new Set())
})

test('a transaction is told of changes until it writes, as it has made some itself then', async () => {
  const db = await open()
  const before = (await changes(db)).version('things')
  await db.write(async tx => {
    assert.is(tx.changes?.version('things'), before)
    await tx.run('INSERT INTO things (id, size) VALUES ($1, $2)', ['own', 1])
    assert.is(tx.changes, null)
  })
  await db.close()
})

test.run()
