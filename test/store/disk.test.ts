// engines: embedded; process: own
/** The disk as durability needs it: nothing is left out when little is taken at once, and no file stays open. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type DiskFile, piecesOf, readFully, realDisk, writeFully } from '../../src/store/embedded/disk.ts'
import { inFolder } from './folder.ts'
import { memoryFile, openUnder } from './open-files.ts'

const counting = (length: number) => Buffer.from(Array.from({ length }, (_, i) => i % 251))
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: NodeJS.ErrnoException) => error.code,
  )

test('all is written and read where it belongs, however little is taken at once', () => {
  for (const most of [1, 3, 10, 1000]) {
    const file = memoryFile(Buffer.alloc(30), most)
    writeFully(file, counting(10), 5)
    assert.equal(file.bytes, Buffer.concat([Buffer.alloc(5), counting(10), Buffer.alloc(15)]), `${most} at once`)
    const into = Buffer.alloc(10)
    readFully(file, into, 5)
    assert.equal(into, counting(10))
  }
  writeFully(memoryFile(Buffer.alloc(0)), Buffer.alloc(0), 0)
})

test('a disk that takes nothing, and a file that ends, are errors and no loop', () => {
  assert.throws(() => writeFully(memoryFile(Buffer.alloc(12)), counting(10), 5), /took no bytes/)
  assert.throws(() => writeFully({ write: () => -1 } as unknown as DiskFile, counting(10), 0), /took no bytes/)
  assert.throws(() => readFully(memoryFile(counting(12)), Buffer.alloc(10), 5), 'the file ends at byte 12')
})

test('a file comes in pieces of a megabyte, the last as long as it is', () => {
  const MB = 1024 * 1024
  const pieces = (size: number, length?: number) =>
    [...piecesOf(memoryFile(Buffer.alloc(size)), length)].map(({ bytes, position }) => [position, bytes.length])
  assert.equal(pieces(0), [])
  assert.equal(pieces(5), [[0, 5]])
  assert.equal(pieces(MB), [[0, MB]])
  assert.equal(pieces(2 * MB + 1), [
    [0, MB],
    [MB, MB],
    [2 * MB, 1],
  ])
  assert.equal(pieces(2 * MB, MB + 7), [
    [0, MB],
    [MB, 7],
  ])
  const bytes = counting(MB + 100)
  const copies: Buffer[] = []
  for (const piece of piecesOf(memoryFile(bytes))) copies.push(Buffer.from(piece.bytes))
  assert.ok(Buffer.concat(copies).equals(bytes))
})

test(
  'a file is made for its owner alone, kept if it is there, and closed',
  inFolder(async path => {
    const folder = dirname(path)
    assert.is(await realDisk.openToRead(path), undefined)
    assert.not(existsSync(path))
    const file = await realDisk.open(path)
    assert.is(statSync(path).mode & 0o777, 0o600)
    assert.is(file.size, 0)
    assert.is(file.write(counting(10), 3), 10)
    await file.datasync()
    const into = Buffer.alloc(20)
    assert.is(file.read(into, 2), 11)
    assert.equal(into.subarray(1, 11), counting(10))
    assert.equal(openUnder(folder), [path])
    await file.close()
    assert.equal(openUnder(folder), [])
    const again = await realDisk.open(path)
    assert.is(again.size, 13)
    await again.truncate(5)
    assert.is(statSync(path).size, 5)
    await again.close()
    const read = (await realDisk.openToRead(path))!
    assert.is(read.size, 5)
    await read.close()
    assert.equal(openUnder(folder), [])
  }),
)

test(
  'what is there and can’t be opened is an error, not a file that is missing',
  inFolder(async path => {
    mkdirSync(path)
    assert.is(await code(realDisk.open(path)), 'EISDIR')
    writeFileSync(`${path}.file`, 'x')
    assert.is(await code(realDisk.openToRead(`${path}.file/below`)), 'ENOTDIR')
    assert.is(await code(realDisk.open(`${path}.file/below`)), 'ENOTDIR')
  }),
)

test(
  'names change, go and are made durable; what is not there may be removed',
  inFolder(async path => {
    const folder = dirname(path)
    writeFileSync(path, 'x')
    await realDisk.rename(path, `${path}.new`)
    assert.is(readFileSync(`${path}.new`, 'utf8'), 'x')
    await realDisk.syncFolder(folder)
    assert.equal(openUnder(folder), [])
    await realDisk.remove(`${path}.new`)
    await realDisk.remove(`${path}.new`)
    assert.not(existsSync(`${path}.new`))
    assert.is(await code(realDisk.rename(`${path}.new`, path)), 'ENOENT')
    assert.is(await code(realDisk.syncFolder(`${folder}/none`)), 'ENOENT')
  }),
)

test(
  'a copy is on the medium when it is told of, goes over what is there, and is none of what is not there',
  inFolder(async path => {
    writeFileSync(path, 'new')
    writeFileSync(`${path}.copy`, 'something longer')
    const handle = await open(path)
    const prototype = Object.getPrototypeOf(handle) as { sync(): Promise<void> }
    const { sync } = prototype
    let syncs = 0
    prototype.sync = function (this: typeof handle) {
      syncs++
      return sync.call(this)
    }
    try {
      assert.is(await realDisk.copy(path, `${path}.copy`), true)
      assert.is(syncs, 1)
    } finally {
      prototype.sync = sync
      await handle.close()
    }
    assert.is(readFileSync(`${path}.copy`, 'utf8'), 'new')
    assert.is(await realDisk.copy(`${path}.none`, `${path}.copy`), false)
    assert.is(readFileSync(`${path}.copy`, 'utf8'), 'new')
    assert.is(await code(realDisk.copy(path, `${path}.none/copy`)), 'ENOENT')
    assert.equal(openUnder(dirname(path)), [])
  }),
)

test.run()
