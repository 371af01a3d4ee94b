// engines: embedded; process: shared
/** What waits is counted in memory as with a file: a crowd of it slows webhooks down. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { unexpected } from './folder.ts'

test('writes of one moment wait in memory, and nothing of them is left when they are done', async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await db.write(tx => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY)'))
  assert.is(db.waiting, 0)
  const writes = [1, 2, 3].map(id => db.write(tx => tx.run('INSERT INTO a (id) VALUES ($1)', [id])))
  assert.is(db.waiting, 3)
  await Promise.all(writes)
  assert.is(db.waiting, 0)
  await db.close()
})

test.run()
