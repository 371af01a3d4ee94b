/**
 * The bytes of a file of page-cache.ts. Copies share their pages until one of them changes a page: the crash tests copy a file
 * ten times for each that they write to, and as whole buffers these copies were half of their time.
 */

export const PAGE = 4096
const ZEROS = Buffer.alloc(4 * 1024 * 1024)

/** Pages of these are not kept at all. */
export const zeros = (length: number): Buffer =>
  length <= ZEROS.length ? ZEROS.subarray(0, length) : Buffer.alloc(length)

export const isZeros = (bytes: Uint8Array): boolean =>
  bytes.length <= ZEROS.length && ZEROS.compare(bytes, 0, bytes.length, 0, bytes.length) === 0

export class FileContent {
  #size = 0
  /** What is not there is all zeros. The last one reaches beyond the end, with zeros. */
  #pages: (Uint8Array | undefined)[] = []
  /** Pages that no other has. */
  #own = new Set<number>()

  static of(bytes: Uint8Array): FileContent {
    const content = new FileContent()
    content.resize(bytes.length)
    content.write(Uint8Array.from(bytes), 0)
    return content
  }

  get size(): number {
    return this.#size
  }

  copy(): FileContent {
    const content = new FileContent()
    content.#size = this.#size
    content.#pages = this.#pages.slice()
    this.#own.clear()
    return content
  }

  resize(size: number): void {
    if (size < this.#size) {
      const last = Math.floor(size / PAGE)
      this.#pages.length = Math.min(this.#pages.length, last + 1)
      if (this.#pages[last]) this.#ownPage(last).fill(0, size % PAGE)
    }
    this.#size = size
  }

  /** What lies beyond the end is left out. Whole pages are kept as they are given: nobody may change these bytes any more. */
  write(bytes: Uint8Array, position: number): void {
    const end = Math.min(this.#size, position + bytes.length)
    for (let from = position; from < end; ) {
      const page = Math.floor(from / PAGE)
      const to = Math.min(end, (page + 1) * PAGE)
      const part = bytes.subarray(from - position, to - position)
      if (part.length < PAGE) this.#ownPage(page).set(part, from % PAGE)
      else {
        this.#pages[page] = part.buffer === ZEROS.buffer ? undefined : part
        this.#own.delete(page)
      }
      from = to
    }
  }

  /** How many bytes there were. */
  read(into: Uint8Array, position: number): number {
    const end = Math.min(this.#size, position + into.length)
    for (let from = position; from < end; ) {
      const page = Math.floor(from / PAGE)
      const to = Math.min(end, (page + 1) * PAGE)
      into.set(this.#page(page).subarray(from % PAGE, (from % PAGE) + to - from), from - position)
      from = to
    }
    return Math.max(0, end - position)
  }

  bytes(from = 0, to = this.#size): Buffer {
    const bytes = Buffer.alloc(Math.max(0, Math.min(to, this.#size) - from))
    this.read(bytes, from)
    return bytes
  }

  #page(page: number): Uint8Array {
    return this.#pages[page] ?? zeros(PAGE)
  }

  /** To be changed. */
  #ownPage(page: number): Uint8Array {
    if (!this.#pages[page] || !this.#own.has(page)) this.#pages[page] = new Uint8Array(this.#page(page))
    this.#own.add(page)
    return this.#pages[page]!
  }
}
