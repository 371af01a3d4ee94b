// engines: embedded; process: own
/** What does not end the embedded database: an error is not a loss, and a mistake behind a commit takes nothing back. */
import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError, type Tx } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { nextPath } from '../../src/store/embedded/journal.ts'
import { packedPath, temporaryPath } from '../../src/store/embedded/snapshot.ts'
import { inFolder, unexpected } from './folder.ts'
import { openUnder } from './open-files.ts'

const opened = (file: string | null, more: object = {}) => openSqlite({ file, onFatal: unexpected, ...more })
const table = (tx: Tx) => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY)')
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'it was not refused',
    error => `${error instanceof StoreError}: ${error.message}`,
  )

test(
  'what a killed process left unfinished beside the database is gone after the next start',
  inFolder(async file => {
    const db = await opened(file)
    await db.write(table)
    await db.close()
    const left = [temporaryPath(file), packedPath(file), nextPath(file)]
    for (const path of left) writeFileSync(path, 'unfinished')
    await (await opened(file)).close()
    assert.equal(left.filter(existsSync), [])
  }),
)

test('a read that fails in SQLite is told so and ends nothing, whether or not a transaction is open', async () => {
  const db = await opened(null)
  const overflow = () => refusal(db.read(q => q.get('SELECT abs(-9223372036854775807 - 1) AS n')))
  assert.is(await overflow(), 'false: integer overflow')
  await db.write(table)
  assert.is(await overflow(), 'false: integer overflow')
  assert.is(
    await refusal(db.write(tx => tx.get('SELECT abs(-9223372036854775807 - 1) AS n'))),
    'false: integer overflow',
  )
  await db.write(tx => tx.run('INSERT INTO a (id) VALUES (1)'))
  assert.equal(await db.read(q => q.all('SELECT id FROM a')), [{ id: 1 }])
  assert.is(await db.ready(), true)
  await db.close()
})

test('in memory there is nothing to snapshot, nothing is on a disk, and what is there is counted', async () => {
  const db = await opened(null, { fullBytes: 5_000_000 })
  await db.write(table)
  await db.snapshot()
  assert.equal(db.stats(), {
    transactions: 1,
    batches: 0,
    journalBytes: 0,
    snapshotBytes: 0,
    snapshots: 0,
    folding: false,
  })
  assert.equal(db.fill, { bytes: db.fill!.bytes, limit: 5_000_000 })
  assert.ok(db.fill!.bytes >= 4096)
  assert.is(db.shared, false)
  await db.close()
})

test('what follows a commit and throws is warned of; the commit stands, and so does what else follows', async () => {
  for (const file of [true, false]) {
    await inFolder(async path => {
      const warned: string[] = []
      const db = await opened(file ? path : null, { warn: (message: string) => warned.push(message) })
      let others = 0
      await db.write(async tx => {
        await table(tx)
        tx.afterCommit(() => {
          throw new Error('a mistake')
        })
        tx.afterCommit(() => others++)
      })
      assert.is(others, 1)
      assert.is(warned.length, 1)
      assert.match(warned[0]!, /^What follows a commit must not throw: Error: a mistake/)
      assert.equal(await db.read(q => q.all('SELECT id FROM a')), [])
      await db.close()
    })()
  }
})

test('a snapshot takes all in, is counted, and is not made again of nothing new', async () => {
  await inFolder(async file => {
    const db = await opened(file)
    await db.write(table)
    await db.snapshot()
    const { snapshots, snapshotBytes, folding } = db.stats()
    assert.equal([snapshots, folding], [1, false])
    assert.ok(snapshotBytes >= 4096)
    await db.snapshot()
    assert.is(db.stats().snapshots, 1)
    await db.write(tx => tx.run('INSERT INTO a (id) VALUES (1)'))
    await db.snapshot()
    assert.is(db.stats().snapshots, 2)
    await db.close()
    assert.equal(openUnder(dirname(file)), [])
  })()
})

test.run()
