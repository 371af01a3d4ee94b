// engines: embedded; process: own
/** Migrations: in order, once, and never backwards. */
import { readdirSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate, proveMigrated } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { inFolder, unexpected } from './folder.ts'

const first = {
  id: 1,
  name: 'tables',
  sql: 'CREATE TABLE x (id TEXT PRIMARY KEY, at BIGINT NOT NULL);\nCREATE INDEX x_at ON x (at);\n',
}
const second = { id: 2, name: 'more', sql: `-- why\nALTER TABLE x ADD COLUMN note TEXT;\nUPDATE x SET note = 'a;b';` }

test(
  'each migration is applied once, in order, and is there after a restart',
  inFolder(async file => {
    const db = await openSqlite({ file, onFatal: unexpected })
    assert.equal(await migrate(db, [first], () => 5), ['tables'])
    assert.equal(await migrate(db, [first, second], () => 6), ['more'])
    await db.close()
    const again = await openSqlite({ file, onFatal: unexpected })
    assert.equal(await migrate(again, [first, second], () => 7), [])
    assert.equal(await again.read(q => q.all('SELECT id, name, applied_at AS "at" FROM migrations ORDER BY id')), [
      { id: 1, name: 'tables', at: 5 },
      { id: 2, name: 'more', at: 6 },
    ])
    await again.close()
  }),
)

test('a database without any table is not up to date', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  const error = await proveMigrated(db, [first, second]).catch(error => error)
  assert.match(error.message, 'not up to date (tables, more). Run npx agent-marketplace db migrate DATABASE first.')
  await db.close()
})

test('the program’s own steps are numbered, each a file of their folder or a line of its index', () => {
  const steps: readonly { id: number; name: string; sql: string }[] = migrations
  const ids = steps.map(({ id }) => id)
  assert.equal(
    ids,
    [...ids.keys()].map(at => at + 1),
  )
  const filed = steps.filter(({ sql }) => sql.includes('\n'))
  const names = filed.map(({ id, name }) => `${String(id).padStart(3, '0')}-${name}.ts`)
  assert.equal(
    names,
    readdirSync('src/store/migrations')
      .filter(file => file !== 'index.ts')
      .sort(),
    'a step of one line stands in index.ts, and one of several in a file of its number and name, as 012-upkeep.ts',
  )
})

test('a step that another build has applied under its number is refused, and nothing is applied', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(db, [first, second], () => 5)
  const program = [first, { ...second, name: 'less' }, { id: 3, name: 'third', sql: 'CREATE TABLE y (id TEXT);' }]
  for (const refused of [migrate(db, program, () => 6), proveMigrated(db, program)]) {
    const error = await refused.catch(error => error)
    assert.instance(error, StoreError)
    assert.match(error.message, 'another build')
    assert.match(error.message, 'migration 2 is “more”, here it is “less”')
    assert.match(error.message, 'begin with a new database')
  }
  assert.is((await migrate(db, [first, second], () => 7)).length, 0)
})

test('a step that was edited since it was applied is refused, and its comments may change', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(db, [first, second], () => 5)
  const edited = [first, { ...second, sql: second.sql.replace("'a;b'", "'a;c'") }]
  for (const refused of [migrate(db, edited, () => 6), proveMigrated(db, edited)]) {
    const error = await refused.catch(error => error)
    assert.instance(error, StoreError)
    assert.match(error.message, 'its migration 2 (more) was another than the one here')
    assert.match(error.message, 'Use the build that made it')
  }
  const reworded = { ...second, sql: second.sql.replace('-- why', '-- because').replaceAll(' note', '  note') }
  assert.equal(await migrate(db, [first, reworded], () => 7), [])
  await proveMigrated(db, [first, reworded])
})

test('a database of an early build, which kept no hashes, is refused in words', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  const early = 'CREATE TABLE migrations (id BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)'
  await db.write(tx => tx.run(early))
  for (const refused of [migrate(db, [first], () => 6), proveMigrated(db, [first])])
    assert.match((await refused.catch(error => error)).message, 'it has no hash of its migrations. Use the build')
})

test('an instance may start beside a newer one, once all that it knows is applied', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(db, [first], () => 5)
  assert.match((await proveMigrated(db, [first, second]).catch(error => error)).message, 'not up to date (more)')
  await migrate(db, [first, second], () => 5)
  await proveMigrated(db, [first])
})

test('comments of a step reach no engine', async () => {
  const sql =
    '-- who\nCREATE TABLE z (\n  id TEXT PRIMARY KEY -- what\n); -- why\n-- when\nCREATE INDEX z_id ON z (id);\n'
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(db, [{ id: 1, name: 'z', sql }], () => 5)
  const made = await db.read(q =>
    q.all<{ sql: string }>(`SELECT sql FROM sqlite_schema WHERE tbl_name = 'z' AND sql <> ''`),
  )
  assert.equal(
    made.map(({ sql }) => sql.replace(/\s+/g, ' ')),
    ['CREATE TABLE z ( id TEXT PRIMARY KEY ) STRICT', 'CREATE INDEX z_id ON z (id)'],
  )
})

test('a database of a newer program is refused', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(db, [first, second], () => 5)
  const error = await migrate(db, [first], () => 6).catch(error => error)
  assert.instance(error, StoreError)
  assert.match(error.message, 'migration 2 (more)')
})

test('a migration that fails leaves nothing', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(
    db,
    [first, { id: 2, name: 'bad', sql: 'CREATE TABLE y (id TEXT);\nCREATE TABLE x (id TEXT);' }],
    () => 5,
  ).catch(() => {})
  assert.equal(await db.read(q => q.all(`SELECT name FROM sqlite_schema WHERE type = 'table'`)), [])
})

test('tables check the types of what they hold', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(db, [first], () => 5)
  const error = await db.write(tx => tx.run('INSERT INTO x (id, at) VALUES ($1, $2)', ['a', 'b'])).catch(error => error)
  assert.match(error.message, 'cannot store TEXT')
})

test.run()
