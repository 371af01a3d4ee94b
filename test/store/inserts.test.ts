// engines: embedded; process: shared
/** What SQLite does for one inserted row, as its own program of the statement tells. */
import initSqlJs from 'sql.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { makeEmptyDatabase } from '../../scripts/build/empty-database.ts'
import { migrations } from '../../src/store/migrations/index.ts'

test('no insert makes a table of its own, as it would for a list of three in a condition of a column or an index', async () => {
  const empty = await makeEmptyDatabase(migrations)
  const sqlite = new (await initSqlJs()).Database(empty)
  const column = (sql: string, at: number) => (sqlite.exec(sql)[0]?.values ?? []).map(row => String(row[at]))
  const opensTable = (table: string) => {
    const names = column(`SELECT name FROM pragma_table_info('${table}')`, 0)
    const insert = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
    return column(`EXPLAIN ${insert}`, 1).includes('OpenEphemeral')
  }
  sqlite.run(`CREATE TABLE of_three (kind TEXT); CREATE INDEX some ON of_three (kind) WHERE kind IN ('a', 'b', 'c')`)
  const tables = column(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`, 0)
  assert.ok(tables.length > 30)
  assert.equal(tables.filter(opensTable), ['of_three'])
})

test.run()
