// engines: embedded; process: shared
/** A file where SQLite expects the bytes of one in memory: the same bytes, read ahead in order, and every fault told afterwards. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FilePages } from '../../src/store/embedded/file-pages.ts'
import { bytesOf } from '../../src/store/embedded/sqljs-internals.ts'
import { memoryFile } from './open-files.ts'

const KB = 1024
const PAGE = 4 * KB
const counting = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 7) % 251))
const fault = (pages: FilePages) => {
  try {
    pages.check()
    return null
  } catch (error) {
    return (error as Error).message
  }
}

test('pages are the bytes of the file; in order they are read ahead, else alone', () => {
  const bytes = counting(600 * KB)
  const file = memoryFile(bytes)
  const pages = new FilePages(file, bytes.length)
  for (let at = 0; at < bytes.length; at += PAGE) {
    assert.ok(bytes.subarray(at, at + PAGE).equals(pages.subarray(at, at + PAGE)), `page at ${at}`)
  }
  assert.equal(file.reads, [
    { at: 0, length: 256 * KB },
    { at: 256 * KB, length: 256 * KB },
    { at: 512 * KB, length: 88 * KB },
  ])
  assert.ok(bytes.subarray(8 * KB, 12 * KB).equals(pages.subarray(8 * KB, 12 * KB)))
  assert.equal(file.reads.slice(3), [{ at: 8 * KB, length: PAGE }])
  pages.subarray(9 * KB, 10 * KB)
  assert.is(file.reads.length, 4, 'what is in the window is not read again')
  pages.subarray(11 * KB, 13 * KB)
  assert.equal(file.reads.slice(4), [{ at: 11 * KB, length: 2 * KB }])
  assert.is(fault(pages), null)
})

test('what is written is there in the file and in every later look, and makes the file longer', () => {
  const file = memoryFile(Buffer.alloc(100 * KB))
  const pages = new FilePages(file, 20 * KB)
  const look = (at: number) => pages.subarray(at, at + PAGE)[0]
  const put = (at: number, value: number) => pages.set(new Int8Array(PAGE).fill(value), at)
  assert.is(look(0), 0)
  for (const at of [0, 4 * KB, 16 * KB]) {
    assert.is(look(at), 0)
    put(at, 3)
    assert.is(look(at), 3, `at ${at}`)
  }
  assert.is(pages.size, 20 * KB)
  put(20 * KB, 5)
  assert.is(pages.size, 24 * KB)
  assert.is(look(20 * KB), 5)
  const reads = file.reads.length
  put(40 * KB, 6)
  look(20 * KB)
  assert.is(file.reads.length, reads, 'what is written elsewhere leaves the window as it is')
  assert.is(pages.size, 44 * KB)
  const part = new Int8Array([1, 2, 3, 4, 5]).subarray(1, 3)
  pages.set(part, 60 * KB)
  assert.equal([...file.bytes.subarray(60 * KB - 1, 60 * KB + 3)], [0, 2, 3, 0])
  assert.is(fault(pages), null)
})

test('a file that is only read, and one that is asked for all at once, are faults', () => {
  const { write: _, ...file } = memoryFile(Buffer.alloc(200 * KB))
  const pages = new FilePages(file, 200 * KB)
  pages.set(new Int8Array(PAGE), 0)
  assert.is(fault(pages), 'SQLite would write to the file')
  const other = new FilePages(memoryFile(Buffer.alloc(200 * KB)), 200 * KB)
  assert.is(other.subarray(0, 64 * KB).length, 64 * KB)
  assert.is(fault(other), null)
  assert.is(other.subarray(0, 64 * KB + 1).length, 64 * KB + 1)
  assert.is(fault(other), 'SQLite would make the file shorter')
})

test('the first fault is the one that is told; after it nothing is written', () => {
  const file = memoryFile(Buffer.alloc(10 * KB))
  const pages = new FilePages(file, 100 * KB)
  assert.equal([...new Set(pages.subarray(20 * KB, 24 * KB))], [0], 'zeros stand for what could not be read')
  assert.is(fault(pages), 'the file ends at byte 20480')
  pages.set(new Int8Array(PAGE).fill(9), 0)
  pages.set(new Int8Array(PAGE).fill(9), 50 * KB)
  assert.is(fault(pages), 'the file ends at byte 20480')
  assert.ok(file.bytes.every(byte => byte === 0))
})

test('to sql.js it is bytes of any length, of which a copy is itself', () => {
  const pages = new FilePages(memoryFile(Buffer.alloc(5)), 5)
  assert.is(bytesOf(pages, pages.size).length, 5)
  assert.is(bytesOf(pages, pages.size).subarray() as unknown, pages)
  assert.is(bytesOf(pages, pages.size).slice() as unknown, pages)
  assert.is(pages.length, Number.MAX_SAFE_INTEGER)
})

test.run()
