// engines: embedded; process: own
/** Migrations: in order, once, and never backwards. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate } from '../../src/store/migrate.ts'
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

test('the program’s own steps have ids that grow, with room between them', async () => {
  const ids = migrations.map(({ id }) => id)
  assert.equal(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
  )
  const db = await openSqlite({ file: null, onFatal: unexpected })
  assert.equal(await migrate(db, [first, { ...second, id: 20 }], () => 5), ['tables', 'more'])
  const between = { id: 7, name: 'between', sql: 'CREATE TABLE y (id TEXT PRIMARY KEY);' }
  assert.equal(await migrate(db, [first, between, { ...second, id: 20 }], () => 6), ['between'])
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
