// engines: embedded; process: own
/** The empty database of a build: what the migrations make, no more and no less. */
import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'

const shipped = new URL('../../dist/bundle/empty.db', import.meta.url)
const onFatal = (error: Error) => assert.unreachable(error.message)

async function contents(image?: Uint8Array) {
  const db = await openSqlite({ file: null, image, onFatal })
  const applied = await migrate(db, migrations, () => 0)
  const all = await db.read(async q => {
    const schema = await q.all<{ name: string; type: string; sql: string | null }>(
      'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name',
    )
    const rows: Record<string, unknown[]> = {}
    for (const { name, type } of schema) {
      if (type === 'table') rows[name] = await q.all(`SELECT * FROM ${name} ORDER BY rowid`)
    }
    return { schema, rows }
  })
  await db.close()
  return { applied, ...all }
}

test('the empty database of a build is what the migrations make, and none is missing in it', async () => {
  const made = await contents()
  const read = await contents(await readFile(shipped))
  assert.equal(read.applied, [], 'the build is older than the migrations: npm run build')
  assert.is(made.applied.length, migrations.length)
  assert.ok(made.schema.length > 50)
  assert.equal(read.schema, made.schema)
  assert.equal(read.rows, made.rows)
})

test.run()
