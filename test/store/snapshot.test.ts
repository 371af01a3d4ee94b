// engines: embedded; process: own
/** The snapshot as a file: its stamp, what is refused of it, and that no file stays open, whatever happens. */
import { crc32 } from 'node:zlib'
import initSqlJs from 'sql.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreError } from '../../src/store/db.ts'
import type { Disk, ReadableFile } from '../../src/store/embedded/disk.ts'
import {
  copySnapshot,
  openDraft,
  readSnapshot,
  temporaryPath,
  writeSnapshot,
} from '../../src/store/embedded/snapshot.ts'
import { Engine } from '../../src/store/embedded/statements.ts'
import { MemoryDisk } from './memory-disk.ts'

const FILE = '/d/market.db'
const AT = { seq: 12, chain: 3_000_000_000 }

/** Counts what is open on a disk. */
function counted(disk: Disk) {
  let open = 0
  const noted = <F extends ReadableFile>(file: F): F => {
    open++
    const close = file.close
    return {
      ...file,
      close() {
        open--
        return close()
      },
    }
  }
  return {
    get open() {
      return open
    },
    disk: {
      ...disk,
      openToRead: async path => {
        const file = await disk.openToRead(path)
        return file && noted(file)
      },
      open: async path => noted(await disk.open(path)),
      rename: (from, to) => disk.rename(from, to),
      remove: path => disk.remove(path),
      syncFolder: path => disk.syncFolder(path),
    } satisfies Disk as Disk,
  }
}

async function written(rows = 200) {
  const memory = new MemoryDisk()
  const counts = counted(memory)
  const { disk } = counts
  const engine = await Engine.open()
  engine.column('CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT)')
  for (let id = 0; id < rows; id++) engine.column(`INSERT INTO a VALUES (${id}, '${'x'.repeat(100)}')`)
  const bytes = await writeSnapshot(disk, FILE, engine, AT)
  engine.close()
  return { memory, disk, counts, size: bytes, bytes: Buffer.from(memory.files().get(FILE)!) }
}

async function put(memory: MemoryDisk, path: string, bytes: Uint8Array) {
  const file = await memory.open(path)
  await file.truncate(0)
  file.write(bytes, 0)
  await file.close()
}

const refusal = async (work: Promise<{ engine: Engine }>) => {
  const error = await work.then(
    ({ engine }) => {
      engine.close()
      return new Error('it was taken')
    },
    error => error,
  )
  return `${error instanceof StoreError ? '' : 'no StoreError: '}${error.message}`
}

test('the stamp of a snapshot is what it was in every version: sign, checksum, change counter', async () => {
  const { memory, bytes, size } = await written()
  assert.is(bytes.length, size)
  assert.equal([...memory.files().keys()], [FILE], 'nothing else is left')
  assert.is(bytes.toString('latin1', 0, 16), 'SQLite format 3\0')
  assert.is(bytes.toString('latin1', 72, 76), '1AMS')
  assert.is(bytes.readUInt32LE(76), crc32(bytes.subarray(92), crc32(bytes.subarray(0, 72))))
  assert.ok(bytes.subarray(80, 84).equals(bytes.subarray(24, 28)))
  assert.ok(bytes.subarray(84, 92).every(byte => byte === 0))
  const sqlite = new (await initSqlJs()).Database(Buffer.from(bytes))
  assert.equal(sqlite.exec('SELECT one, seq, chain FROM store_position')[0]!.values, [[1, 12, 3_000_000_000]])
})

test('a snapshot is read where it stands, and a second one stands elsewhere', async () => {
  const { disk, size, counts } = await written()
  const { engine, ...found } = await readSnapshot(disk, FILE)
  assert.equal(found, { ...AT, bytes: size, edited: false })
  assert.equal(engine.column('SELECT COUNT(*) FROM a'), [200])
  assert.is(await writeSnapshot(disk, FILE, engine, { seq: 13, chain: 4 }), size)
  engine.close()
  const next = await readSnapshot(disk, FILE)
  assert.equal([next.seq, next.chain, next.edited], [13, 4, false])
  next.engine.close()
  assert.is(counts.open, 0)
})

test('where there is no file, or an empty one, history begins', async () => {
  const memory = new MemoryDisk()
  const counts = counted(memory)
  for (const make of [() => Promise.resolve(), () => put(memory, FILE, Buffer.alloc(0))]) {
    await make()
    const { engine, ...found } = await readSnapshot(counts.disk, FILE)
    assert.equal(found, { seq: 0, chain: 0, bytes: 0, edited: false })
    assert.equal(engine.column('SELECT COUNT(*) FROM sqlite_schema'), [0])
    engine.close()
    const draft = await openDraft(counts.disk, FILE)
    const copy = await copySnapshot(counts.disk, FILE, draft)
    assert.equal([copy.seq, copy.chain, copy.bytes, copy.edited], [0, 0, 0, false])
    assert.ok((await writeSnapshot(counts.disk, `${FILE}`, copy.engine, AT)) > 0)
    copy.engine.close()
    await draft.close()
    await memory.remove(FILE)
  }
  assert.is(counts.open, 0)
})

test('a database without a table is written as one of this program', async () => {
  const counts = counted(new MemoryDisk())
  const { disk } = counts
  const engine = await Engine.open()
  await writeSnapshot(disk, FILE, engine, AT)
  engine.close()
  const { engine: again, ...found } = await readSnapshot(disk, FILE)
  assert.equal([found.seq, found.chain, found.edited], [12, 3_000_000_000, false])
  again.close()
  assert.is(counts.open, 0)
})

test('each byte of the file counts: the stamp and the counter tell another program, the rest tells damage', async () => {
  const { memory, disk, bytes, counts } = await written(30)
  const offsets = [...Array.from({ length: 93 }, (_, i) => i), 500, 4096, bytes.length - 1]
  for (const offset of offsets) {
    const other = Buffer.from(bytes)
    other[offset]! ^= 1
    await put(memory, FILE, other)
    const isStamp = (offset >= 72 && offset < 76) || (offset >= 80 && offset < 84)
    const isCounter = offset >= 24 && offset < 28
    const reserve = offset >= 84 && offset < 92
    if (isStamp || isCounter || reserve) {
      const { engine, edited } = await readSnapshot(disk, FILE)
      assert.is(edited, !reserve, `byte ${offset}`)
      engine.close()
    } else {
      assert.is(
        await refusal(readSnapshot(disk, FILE)),
        `${FILE} is damaged: its checksum is wrong. Restore a backup; look with: npx agent-marketplace db check ${FILE}`,
        `byte ${offset}`,
      )
    }
    assert.is(counts.open, 0)
  }
})

test('a file too short for a stamp, or no database at all, is damaged', async () => {
  const { memory, disk, bytes, counts } = await written(5)
  for (const length of [1, 50, 91, 92, 93, 600]) {
    await put(memory, FILE, bytes.subarray(0, length))
    assert.match(
      await refusal(readSnapshot(disk, FILE)),
      /^\/d\/market\.db is (?:damaged: |an SQLite file, but)/,
      `${length}`,
    )
    assert.is(counts.open, 0)
  }
})

test('what another program has changed is looked through: damage, and rows that refer to nothing', async () => {
  const { memory, disk, bytes } = await written(5)
  const edited = async (sql: string) => {
    const sqlite = new (await initSqlJs()).Database(Buffer.from(bytes))
    sqlite.run(sql)
    await put(memory, FILE, sqlite.export())
    return refusal(readSnapshot(disk, FILE))
  }
  assert.is(await edited('INSERT INTO a VALUES (900, 1)'), 'no StoreError: it was taken')
  assert.match(await edited('DROP TABLE store_position'), 'not one of this program: it has no store_position')
  assert.match(
    await edited('PRAGMA foreign_keys = OFF; CREATE TABLE b (a INTEGER REFERENCES a (id)); INSERT INTO b VALUES (77)'),
    'is damaged: a row of b refers to one that is not there',
  )
  assert.match(
    await edited(
      `CREATE TABLE b (n INTEGER CHECK (n > 0)); PRAGMA ignore_check_constraints = ON; INSERT INTO b VALUES (-1)`,
    ),
    'is damaged: CHECK constraint failed in b',
  )
  assert.match(await edited('ALTER TABLE store_position RENAME COLUMN seq TO other'), 'is damaged: no such column: seq')
})

test('what another program has left beside the file is refused, and what undoes nothing is not', async () => {
  const { memory, disk, counts } = await written(5)
  const refused = async (path: string, bytes: Uint8Array) => {
    await put(memory, path, bytes)
    const said = [
      await refusal(readSnapshot(disk, FILE)),
      await refusal(copySnapshot(disk, FILE, await memory.open('/d/t'))),
    ]
    await memory.remove(path)
    assert.is(counts.open, 0)
    return said[0] === said[1] ? said[0]! : said.join(' / ')
  }
  assert.match(
    await refused(`${FILE}-wal`, Buffer.alloc(9)),
    `${FILE}-wal holds changes that another program has not finished`,
  )
  assert.match(await refused(`${FILE}-wal`, Buffer.alloc(1)), `${FILE}-wal holds changes`)
  assert.match(
    await refused(`${FILE}-journal`, Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 0])),
    `${FILE}-journal holds changes`,
  )
  assert.is(await refused(`${FILE}-journal`, Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 1])), 'no StoreError: it was taken')
  assert.is(await refused(`${FILE}-wal`, Buffer.alloc(0)), 'no StoreError: it was taken')
})

test('a copy in a draft is the same, changes there alone, and takes the place of the file when it is written', async () => {
  const { memory, disk, bytes, counts } = await written()
  const draft = await openDraft(disk, FILE)
  const { engine, ...found } = await copySnapshot(disk, FILE, draft)
  assert.equal(found, { ...AT, bytes: bytes.length, edited: false })
  assert.ok(memory.files().get(temporaryPath(FILE))!.equals(bytes))
  engine.column('DELETE FROM a WHERE id > 9')
  assert.ok(memory.files().get(FILE)!.equals(bytes))
  await writeSnapshot(disk, FILE, engine, { seq: 20, chain: 1 })
  engine.close()
  await draft.close()
  assert.is(counts.open, 0)
  const next = await readSnapshot(disk, FILE)
  assert.equal([next.seq, next.edited, next.engine.column('SELECT COUNT(*) FROM a')[0]], [20, false, 10])
  next.engine.close()
  const other = Buffer.from(memory.files().get(FILE)!)
  other[27]! ^= 1
  await put(memory, FILE, other)
  const again = await openDraft(disk, FILE)
  assert.is(
    await refusal(copySnapshot(disk, FILE, again)),
    `${FILE} was changed by another program while this one used it.`,
  )
  await again.close()
  assert.is(counts.open, 0)
})

test('whatever call fails, no file stays open and the snapshot that was there stays', async () => {
  const { memory, disk, bytes, counts } = await written(5)
  for (let at = 1; ; at++) {
    const engine = await Engine.open()
    memory.fault = { at: memory.count + at, code: 'EIO', sticky: false }
    const end = await writeSnapshot(disk, FILE, engine, AT).then(
      () => 'done',
      error => String(error.message),
    )
    memory.fault = null
    engine.close()
    assert.is(counts.open, 0, `call ${at}`)
    if (end === 'done') break
    assert.ok(at < 200)
    await put(memory, FILE, bytes)
  }
  for (let at = 1; ; at++) {
    memory.fault = { at: memory.count + at, code: 'EIO', sticky: false }
    const end = await refusal(readSnapshot(disk, FILE))
    memory.fault = null
    assert.is(counts.open, 0, `call ${at}`)
    if (end.endsWith('it was taken')) break
    assert.ok(at < 200)
  }
})

test.run()
