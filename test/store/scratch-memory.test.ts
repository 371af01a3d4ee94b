// engines: embedded; process: own
/** What one large value takes in memory beside the database is not kept for ever. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { openConnection } from '../../src/store/embedded/sqlite-wasm.ts'
import { until } from '../support/patience.ts'
import { inFolder, unexpected } from './folder.ts'

const LARGE = 'x'.repeat(12 * 1024 * 1024)

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const opened = async (file: string | null) => {
  const db = await openSqlite({ file, onFatal: unexpected })
  await db.write(tx => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY, text TEXT NOT NULL)'))
  await db.write(tx => tx.run('INSERT INTO a (id, text) VALUES (-1, $1)', [LARGE]))
  await db.write(tx => tx.run('DELETE FROM a'))
  return db
}

// Before those that leave room behind: a leak would fill that first.
test('the text of a statement goes once it is prepared', async () => {
  const connection = await openConnection()
  const memory = () => process.memoryUsage().external - process.memoryUsage().arrayBuffers
  const prepare = () => connection.prepare(`SELECT 1 /* ${'x'.repeat(900_000)} */`).free()
  prepare()
  const before = memory()
  for (let i = 0; i < 64; i++) prepare()
  const grown = memory() - before
  connection.close()
  assert.ok(grown < 16 * 1024 * 1024, `${grown} bytes more, for 58 MB`)
})

test("the room that one large statement's values had is there for the rows of the next", async () => {
  const db = await opened(null) // three times its length was taken, as no text needs more in UTF-8
  const memory = () => process.memoryUsage().external - process.memoryUsage().arrayBuffers
  const before = memory()
  await db.write(async tx => {
    const text = 'y'.repeat(10_000)
    for (let id = 0; id < 5_200; id++) await tx.run('INSERT INTO a (id, text) VALUES ($1, $2)', [id, text])
  })
  const grown = memory() - before
  await db.close()
  assert.ok(grown < 16 * 1024 * 1024, `${grown} bytes more, for 52 MB`)
})

test(
  'the bytes of a large batch go with it',
  inFolder(async file => {
    const db = await opened(file)
    const kept = () => process.memoryUsage().arrayBuffers
    const gone = () => {
      collectGarbage()
      return kept() <= LARGE.length
    }
    await until(() => `fewer bytes than ${kept()}`, gone, 20)
    await db.close()
  }),
)

test.run()
