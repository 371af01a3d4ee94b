/** Reads the frames of a journal. At most one window is in memory, or one frame if it is longer. */
import { type ReadableFile, readFully } from './disk.ts'
import { type Frame, HEAD_BYTES, lengthOfFrame, MAGIC, readFrame } from './frame.ts'

// Larger than the zeros that are written ahead, so that one read usually covers the end of a running journal.
const WINDOW = 4 * 1024 * 1024

export class FrameReader {
  readonly #file: ReadableFile
  #room = Buffer.alloc(0)
  /** What was read last. Its first byte is at `#base` in the file. */
  #window = Buffer.alloc(0)
  #base = 0

  constructor(file: ReadableFile) {
    this.#file = file
  }

  /** Returns the intact frame that belongs at `offset`; null if there is none. It is valid until the next call. */
  frameAt(offset: number): Frame | null {
    if (!this.#reach(offset, HEAD_BYTES)) return null
    const length = lengthOfFrame(this.#window, offset - this.#base)
    if (length === 0 || !this.#reach(offset, length)) return null
    return readFrame(this.#window, offset - this.#base, this.#base)
  }

  /** Whether there is an intact frame at or after `offset`; if not, whether there is anything but zeros. */
  restFrom(offset: number): 'frame' | 'torn' | 'zeros' {
    return this.#isZeroFrom(offset) ? 'zeros' : this.#hasFrameFrom(offset) ? 'frame' : 'torn'
  }

  // Compares the zeros with themselves shifted by one byte, which is far faster than a loop over the bytes.
  #isZeroFrom(offset: number) {
    for (let at = offset; this.#reach(at, 1); at = this.#base + this.#window.length) {
      const rest = this.#window.subarray(at - this.#base)
      if (rest[0] !== 0 || !rest.subarray(1).equals(rest.subarray(0, -1))) return false
    }
    return true
  }

  #hasFrameFrom(offset: number) {
    for (let at = offset; this.#reach(at, HEAD_BYTES); ) {
      const found = this.#window.indexOf(MAGIC, at - this.#base)
      if (found < 0) {
        at = this.#base + this.#window.length - MAGIC.length + 1 // the magic number may begin in this window and end in the next
      } else {
        at = this.#base + found
        if (this.frameAt(at)) return true
        at++
      }
    }
    return false
  }

  /** Makes sure that the window has `length` bytes from `offset` on. Returns false if the file is too short. */
  #reach(offset: number, length: number) {
    if (offset + length > this.#file.size) return false
    if (offset >= this.#base && offset + length <= this.#base + this.#window.length) return true
    const size = Math.min(Math.max(WINDOW, length), this.#file.size - offset)
    if (this.#room.length < size || this.#room.length > 2 * WINDOW) this.#room = Buffer.allocUnsafe(size)
    this.#window = this.#room.subarray(0, size)
    this.#base = offset
    readFully(this.#file, this.#window, offset)
    return true
  }
}
