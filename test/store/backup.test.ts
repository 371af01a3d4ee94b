// engines: embedded; process: own
/** Copies of a database that is written to all the while, through rotations and snapshots. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError } from '../../src/store/db.ts'
import { backupFile, recoverLive } from '../../src/store/embedded/backup.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { type Disk, realDisk } from '../../src/store/embedded/disk.ts'
import { journalPath, sealedPath } from '../../src/store/embedded/journal.ts'
import { checkFile } from '../../src/store/embedded/verify.ts'
import { inFolder, unexpected } from './folder.ts'

test(
  'every copy is whole and holds what was answered before it, however the server writes meanwhile',
  inFolder(async file => {
    const db = await openSqlite({ file, onFatal: unexpected, journalBytes: 30_000 })
    await db.write(tx => tx.run('CREATE TABLE rows (n INTEGER PRIMARY KEY, text TEXT NOT NULL)'))
    let answered = 0
    let stopped = false
    const writer = (async () => {
      while (!stopped) {
        const n = answered + 1
        await db.write(tx => tx.run('INSERT INTO rows (n, text) VALUES ($1, $2)', [n, 'x'.repeat(4_000)]))
        answered = n
      }
    })()
    for (let round = 0; round < 10 || db.stats().snapshots < 3; round++) {
      const before = answered
      const to = `${file}.copy${round}`
      await backupFile(file, to, null)
      const after = answered
      const { ok, problems, db: copy } = await checkFile(to)
      assert.equal(problems, [])
      assert.ok(ok)
      const { count, last } = (await copy!.get<{ count: number; last: number }>(
        'SELECT COUNT(*) AS count, COALESCE(MAX(n), 0) AS last FROM rows',
      ))!
      assert.is(count, last)
      assert.ok(last >= before, `${last} of ${before}`)
      assert.ok(last <= after + 1, `${last} of ${after}`)
    }
    stopped = true
    await writer
    await db.close()
  }),
)

test(
  'a look that falls between two journals is followed by another',
  inFolder(async file => {
    const db = await openSqlite({ file, onFatal: unexpected })
    await db.write(tx => tx.run('CREATE TABLE rows (n INTEGER PRIMARY KEY)'))
    await db.snapshot()
    for (let n = 1; n <= 50; n++) await db.write(tx => tx.run('INSERT INTO rows (n) VALUES ($1)', [n]))
    await db.close()
    let looked = false
    const openToRead: Disk['openToRead'] = async path => {
      const opened = await realDisk.openToRead(path)
      // As a server does that begins a new journal, after the look for the sealed one and before the next.
      if (path === sealedPath(file) && !looked) await rename(journalPath(file), sealedPath(file))
      looked ||= path === sealedPath(file)
      return opened
    }
    const { engine } = await recoverLive({ ...realDisk, openToRead }, file)
    assert.equal(engine.column('SELECT COUNT(*) FROM rows'), [50])
    engine.close()
  }),
)

test(
  'a copy never goes over a file that is there, and damage is told as damage',
  inFolder(async file => {
    const db = await openSqlite({ file, onFatal: unexpected })
    await db.write(tx => tx.run('CREATE TABLE rows (n INTEGER PRIMARY KEY)'))
    for (let n = 1; n <= 50; n++) await db.write(tx => tx.run('INSERT INTO rows (n) VALUES ($1)', [n]))
    await db.close()
    const refused = (to: string) =>
      backupFile(file, to, null).then(
        () => 'it was made',
        (error: Error) => {
          assert.instance(error, StoreError)
          return error.message
        },
      )
    await writeFile(`${file}.there`, 'mine')
    assert.match(await refused(`${file}.there`), 'exists already')
    assert.match(await refused(file), 'exists already')
    await writeFile(`${file}.new-wal`, '')
    assert.match(await refused(`${file}.new`), 'new-wal exists already')
    assert.is(await readFile(`${file}.there`, 'utf8'), 'mine')
    const journal = await readFile(journalPath(file))
    journal[Math.floor(journal.indexOf(Buffer.from('INSERT')) + 100)]! ^= 1
    await writeFile(journalPath(file), journal)
    assert.match(await refused(`${file}.copy`), 'damaged')
  }),
)

test.run()
