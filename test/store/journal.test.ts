// engines: embedded; process: own
/** What a start accepts from a journal, and when a unit is told of or shown anything. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError, type Tx } from '../../src/store/db.ts'
import { openSqlite, openSqliteOn, type SqliteDb } from '../../src/store/embedded/database.ts'
import { type Disk, realDisk } from '../../src/store/embedded/disk.ts'
import { foldSealed } from '../../src/store/embedded/fold-sealed.ts'
import { HEAD_BYTES, readFrame, sealFrame } from '../../src/store/embedded/frame.ts'
import { Journal, journalPath, sealedPath } from '../../src/store/embedded/journal.ts'
import { lockFile } from '../../src/store/embedded/lock.ts'
import { readJournal } from '../../src/store/embedded/replay.ts'
import { foldInWorker } from '../../src/store/embedded/snapshot-thread.ts'
import { checkFile } from '../../src/store/embedded/verify.ts'
import { inTime, until } from '../support/patience.ts'
import { inFolder, unexpected } from './folder.ts'

const open = (file: string) => openSqlite({ file, onFatal: unexpected })
const table = (tx: Tx) => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)')
const insert = (id: number) => (tx: Tx) => tx.run('INSERT INTO a (id, n) VALUES ($1, $1)', [id])
const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => assert.unreachable('must be refused'),
    error => error,
  )
  assert.instance(error, StoreError)
  return (error as Error).message
}

/** A database with a table and three rows, each in a batch of its own, closed in order. */
const closed = async (file: string) => {
  const db = await open(file)
  await db.write(table)
  for (const id of [1, 2, 3]) await db.write(insert(id))
  await db.close()
}

/** The journal with the payload of one batch (from 0) replaced, and its own checksum right. */
const forged = (bytes: Buffer, which: number, change: (json: string) => string, rechain = false) => {
  const parts: Buffer[] = []
  let [offset, chain] = [0, 0]
  for (let frame = readFrame(bytes, 0), at = -1; frame; frame = readFrame(bytes, frame.end), at++) {
    const json = at === which ? change(frame.payload.toString()) : frame.payload.toString()
    const part = Buffer.concat([Buffer.alloc(HEAD_BYTES), Buffer.from(json)])
    const previous = rechain && at > which ? chain : frame.previous
    chain = sealFrame(part, { kind: frame.kind, seq: frame.seq, count: frame.count, offset, previous })
    offset += part.length
    parts.push(part)
  }
  return Buffer.concat(parts)
}

test(
  'a record that changes another number of rows than at first is refused, by its number',
  inFolder(async file => {
    await closed(file)
    const journal = readFileSync(journalPath(file))
    const more = forged(journal, 2, json => json.replace(/,1,\[/, ',2,['), true)
    assert.is.not(more.compare(journal), 0)
    writeFileSync(journalPath(file), more)
    const refused = await refusal(open(file))
    assert.match(refused, /record 2, can't be done again: it changed 2 rows at first and 1 now/)
    assert.match(refused, `${journalPath(file)}, record 2`)
    writeFileSync(
      journalPath(file),
      forged(journal, 2, json => json, true),
    )
    await (await open(file)).close()
  }),
)

test(
  'a batch that is whole in itself, but not the one that the next went on from, is refused',
  inFolder(async file => {
    await closed(file)
    const journal = readFileSync(journalPath(file))
    const other = forged(journal, 1, json => json.replace('[1]', '[7]'))
    assert.is(other.length, journal.length)
    writeFileSync(journalPath(file), other)
    assert.match(await refusal(open(file)), 'before a point that was durable')
    assert.match((await checkFile(file)).problems.join('\n'), 'before a point that was durable')
  }),
)

/** A database with a sealed journal and a current one, as a crash beside a snapshot leaves it. */
const withSealed = async (file: string) => {
  const fold = () => Promise.reject(new Error('not now'))
  const db = await openSqliteOn({ disk: realDisk, fold, lock: lockFile }, { file, onFatal: unexpected })
  await db.write(table)
  await db.write(insert(1))
  await db.snapshot().catch(() => {})
  await db.write(insert(2))
  await db.close()
  assert.ok(existsSync(sealedPath(file)))
}

test(
  'snapshots that are asked for at once come one after the other, and each has all that was committed before it was asked for',
  inFolder(async file => {
    let running = 0
    let most = 0
    const fold = async (path: string) => {
      most = Math.max(most, ++running)
      await wait(20)
      running--
      return foldInWorker(path, null)
    }
    const db = await openSqliteOn({ disk: realDisk, fold, lock: lockFile }, { file, onFatal: unexpected })
    await db.write(table)
    await db.write(insert(1))
    const first = db.snapshot()
    await db.write(insert(2))
    await inTime('three snapshots', Promise.all([first, db.snapshot(), db.snapshot()]))
    assert.is(most, 1)
    assert.is(db.stats().folding, false)
    const { snapshots } = db.stats()
    await db.write(insert(3))
    await inTime('two more', Promise.all([db.snapshot(), db.snapshot()]))
    assert.is(db.stats().snapshots, snapshots + 1, 'the second of two had nothing left to do')
    await db.close()
    const again = await open(file)
    assert.is((await again.read(q => q.all('SELECT id FROM a'))).length, 3)
    await again.close()
  }),
)

test(
  'a sealed journal without its mark is refused: it was whole when it got its name',
  inFolder(async file => {
    await withSealed(file)
    const sealed = readFileSync(sealedPath(file))
    writeFileSync(sealedPath(file), sealed.subarray(0, sealed.length - HEAD_BYTES))
    assert.match(await refusal(open(file)), `${sealedPath(file)} is damaged at byte`)
    assert.match(await refusal(foldSealed(realDisk, file)), `${sealedPath(file)} is damaged at byte`)
    writeFileSync(sealedPath(file), sealed)
    await (await open(file)).close()
  }),
)

test(
  'journals of two databases are refused together, and so is a snapshot of another',
  inFolder(async file => {
    await withSealed(file)
    await withSealed(`${file}2`)
    await closed(`${file}3`)
    await (await open(`${file}3`)).close()
    const own = readFileSync(journalPath(file))
    writeFileSync(journalPath(file), readFileSync(journalPath(`${file}3`)))
    assert.match(await refusal(open(file)), "don't belong together")
    writeFileSync(journalPath(file), own)
    const db = await open(`${file}3`)
    await db.snapshot()
    await db.close()
    writeFileSync(file, readFileSync(`${file}3`))
    assert.match(await refusal(open(file)), "don't belong together")
    assert.match(await refusal(foldSealed(realDisk, file)), "don't belong together")
  }),
)

test(
  'a sealed journal of updates is not done twice on a snapshot that has it and more',
  inFolder(async file => {
    await withSealed(file)
    const sealed = readFileSync(sealedPath(file))
    const db = await open(file)
    await db.write(tx => tx.run('UPDATE a SET n = n * 2'))
    await db.snapshot()
    await db.close()
    writeFileSync(sealedPath(file), sealed)
    assert.match(await refusal(foldSealed(realDisk, file)), "don't belong together")
    assert.match(await refusal(open(file)), "don't belong together")
  }),
)

test(
  'a snapshot that another program has changed is the beginning of what is written next, also after a kill',
  inFolder(async file => {
    const first = await open(file)
    await first.write(table)
    await first.snapshot()
    await first.close()
    const bytes = readFileSync(file)
    for (const at of [24, 92]) bytes.writeUInt32BE(bytes.readUInt32BE(at) + 1, at)
    writeFileSync(file, bytes)
    const second = await open(file)
    await second.write(insert(1))
    writeFileSync(`${file}.killed`, readFileSync(file))
    writeFileSync(journalPath(`${file}.killed`), readFileSync(journalPath(file)))
    await second.close()
    const third = await open(`${file}.killed`)
    assert.equal(await third.read(q => q.all('SELECT id FROM a')), [{ id: 1 }])
    await third.close()
  }),
)

test(
  'after an owner that may wake up the journal is another file: his writes go nowhere',
  inFolder(async file => {
    await closed(file)
    const inode = () => statSync(journalPath(file)).ino
    const opened = async (mayWake: boolean) => {
      const lock = async (name: string) => ({ ...(await lockFile(name)), mayWake })
      const before = inode()
      await (await openSqliteOn({ disk: realDisk, fold: foldInWorker, lock }, { file, onFatal: unexpected })).close()
      return inode() === before ? 'the same file' : 'another file'
    }
    assert.is(await opened(false), 'the same file')
    assert.is(await opened(true), 'another file')
  }),
)

test(
  'a journal that is not what was read, when it is written anew, refuses the start and stays as it is',
  inFolder(async file => {
    await closed(file)
    const content = (await readJournal(realDisk, journalPath(file)))!
    await content.close()
    const bytes = readFileSync(journalPath(file))
    const renewed = Journal.renew(realDisk, file, { ...content, checksum: content.checksum ^ 1 })
    assert.match(await refusal(renewed), 'has changed since it was read')
    assert.equal(readFileSync(journalPath(file)), bytes)
    await (await open(file)).close()
  }),
)

/** The syncs of journals wait until they are let go, or fail. */
const heldDisk = () => {
  const held: { go(): void; fail(): void }[] = []
  let holds = false
  const disk: Disk = {
    ...realDisk,
    async open(path) {
      const handle = await realDisk.open(path)
      if (!path.includes('.journal')) return handle
      return {
        ...handle,
        datasync: () =>
          holds
            ? new Promise<void>((go, refuse) => held.push({ go, fail: () => refuse(new Error('EIO')) }))
            : handle.datasync(),
      }
    },
  }
  return {
    disk,
    hold: () => {
      holds = true
    },
    async next() {
      await until('a sync', () => held.length > 0)
      return held.shift()!
    },
  }
}

const onHeldDisk = (work: (db: SqliteDb, held: ReturnType<typeof heldDisk>, fatal: Error[]) => Promise<void>) =>
  inFolder(async file => {
    const held = heldDisk()
    const fatal: Error[] = []
    const parts = { disk: held.disk, fold: foldInWorker, lock: lockFile }
    const db = await openSqliteOn(parts, { file, onFatal: error => fatal.push(error) })
    await db.write(table)
    held.hold()
    await work(db, held, fatal)
    await db.close()
  })

test(
  'a reader is not answered before what it has seen is durable',
  onHeldDisk(async (db, held) => {
    const order: string[] = []
    const write = db.write(insert(1)).then(() => order.push('write'))
    const sync = await held.next()
    const read = db.read(q => q.all('SELECT id FROM a')).then(rows => order.push(`read ${rows.length}`))
    await wait(50)
    assert.equal(order, [])
    sync.go()
    await Promise.all([write, read])
    assert.equal(order, ['write', 'read 1'])
  }),
)

test(
  'a reader of what then does not become durable is answered with the failure',
  onHeldDisk(async (db, held, fatal) => {
    const write = db.write(insert(1))
    const sync = await held.next()
    const outcomes = Promise.allSettled([write, db.read(q => q.all('SELECT id FROM a'))])
    await wait(20)
    sync.fail()
    assert.equal(
      (await outcomes).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.is(fatal.length, 1)
  }),
)

test(
  'a unit starts when all that were committed before are on their way to the journal, in that order',
  inFolder(async file => {
    const db = await open(file)
    await db.write(table)
    const before = db.stats().transactions
    const counted: number[] = []
    await Promise.all(
      [1, 2, 3, 4].map(id =>
        db.write(async tx => {
          counted.push(db.stats().transactions - before)
          await insert(id)(tx)
        }),
      ),
    )
    assert.equal(counted, [0, 1, 2, 3])
    await db.close()
  }),
)

test.run()
