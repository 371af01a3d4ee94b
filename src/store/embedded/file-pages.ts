/**
 * Lets sql.js use a file on the disk where it expects an array in its memory. So SQLite reads and writes the file page by
 * page, and the whole file is never copied into memory.
 *
 * sql.js keeps the content of a file as an array. It reads a part of it (`subarray`), writes bytes to it (`set`), and asks
 * for its length to decide whether it needs a longer array. The length reported here is always enough.
 */
import { type DiskFile, type ReadableFile, readFully, writeFully } from './disk.ts'
import type { FileContent } from './sqljs-internals.ts'

// SQLite reads one page at a time. When it reads in order, as for a copy, pages are read ahead.
const WINDOW = 256 * 1024
// No page is longer. sql.js would read more only to move the whole file into a new array.
const MOST_AT_ONCE = 64 * 1024

export class FilePages implements FileContent {
  readonly length = Number.MAX_SAFE_INTEGER
  readonly #file: ReadableFile & Partial<Pick<DiskFile, 'write'>>
  readonly #room = Buffer.allocUnsafe(WINDOW)
  #window = Buffer.alloc(0)
  #base = 0
  /** The current length of the file. */
  size: number
  #fault: Error | null = null

  /** A file without `write` is read-only. */
  constructor(file: ReadableFile | DiskFile, size: number) {
    this.#file = file
    this.size = size
  }

  /** Throws what went wrong so far. An error can't be thrown through SQLite, so whoever used it must ask. */
  check() {
    if (this.#fault) throw this.#fault
  }

  subarray(from: number, to: number): Uint8Array {
    try {
      if (to - from > MOST_AT_ONCE) throw new Error('SQLite would make the file shorter')
      return this.#read(from, to)
    } catch (error) {
      this.#fault ??= error as Error
      return new Uint8Array(to - from)
    }
  }

  set(array: Int8Array, position: number) {
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.length)
    try {
      if (!this.#file.write) throw new Error('SQLite would write to the file')
      if (!this.#fault) writeFully(this.#file as DiskFile, bytes, position)
      if (position < this.#base + this.#window.length && position + bytes.length > this.#base) this.#forget()
      this.size = Math.max(this.size, position + bytes.length)
    } catch (error) {
      this.#fault ??= error as Error
    }
  }

  #read(from: number, to: number) {
    const end = this.#base + this.#window.length
    if (from < this.#base || to > end) {
      const length = from === end ? Math.min(WINDOW, this.size - from) : to - from
      this.#window = this.#room.subarray(0, length)
      this.#base = from
      readFully(this.#file, this.#window, from)
    }
    return this.#window.subarray(from - this.#base, to - this.#base)
  }

  #forget() {
    this.#window = this.#room.subarray(0, 0)
    this.#base = 0
  }
}
