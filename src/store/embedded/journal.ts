/**
 * The journal has every committed transaction as the statements that it ran. Transactions are appended in batches, and one
 * sync makes a batch durable for all who wait (group commit). One batch is written at a time; what commits meanwhile is the
 * next one. No commit is acknowledged before the sync of its batch has returned.
 *
 * Zeros are written ahead of the end, so that a sync has only data to write and no new file size. When nothing is left
 * to write, a mark follows the last batch: an empty frame, which proves that the batch was durable. The next batch
 * overwrites it.
 *
 * After a failed write or sync nothing is tried again, because the system may have dropped the pages that failed and still
 * report success the next time.
 */
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { StoreError } from '../db.ts'
import { type Disk, type DiskFile, piecesOf, writeFully } from './disk.ts'
import { HEAD_BYTES, type Position, sealFrame } from './frame.ts'
import type { JournalContent, JournalEnd } from './replay.ts'
import type { Effect } from './statements.ts'

/**
 * A unit that waits until it is durable. `effects` is null if it wrote nothing but may have read what is not durable yet.
 */
export interface Waiter {
  effects: readonly Effect[] | null
  done(): void
  fail(error: Error): void
}

export const journalPath = (file: string) => `${file}.journal`
export const sealedPath = (file: string) => `${file}.journal.sealed`
export const nextPath = (file: string) => `${file}.journal.next`

const ZEROS = Buffer.alloc(2 * 1024 * 1024)
// Large enough to be worth a sync, and small enough that the disk works while later units still run.
const FULL_BATCH = 32
// Room for a full batch of usual size.
const SCRATCH_BYTES = 1024 * 1024
const MARK_AFTER_MS = 20

export class Journal {
  readonly #disk: Disk
  readonly #file: string
  #handle: DiskFile
  #end: JournalEnd
  #start: number
  #texts: Map<string, number>
  readonly #scratch = Buffer.allocUnsafe(SCRATCH_BYTES)
  #waiting: Waiter[] = []
  #batch: Waiter[] | null = null
  #writing = false
  #scheduled = false
  #dead: StoreError | null = null
  #markTimer: NodeJS.Timeout | undefined
  #rotation: { done(rotated: boolean): void } | null = null
  #whenIdle: (() => void) | null = null
  batches = 0

  /** `onFatal` is called once if a write or a sync fails, the other after every batch with the size of the journal. */
  onFatal: (error: StoreError) => void = () => {}
  onBatch: (bytes: number) => void = () => {}
  warn: (message: string) => void = () => {}
  /** Throws if this process must not acknowledge writes, because another process may own the journal. */
  prove: () => void = () => {}

  /** Creates an empty journal that follows `start`. It is durable under its name when this resolves. */
  static async create(disk: Disk, file: string, start: Position) {
    const { head, end } = headOf(start)
    const handle = await writeNext(disk, file, next => writeFully(next, head, 0), head.length)
    await putInPlace(disk, file, handle)
    return new Journal(disk, file, handle, start.seq, end)
  }

  /**
   * Copies the records to a new file and goes on there, because those of the old file may be only in the system's memory.
   */
  static async renew(disk: Disk, file: string, { start, end, checksum }: JournalContent) {
    const old = await disk.openToRead(journalPath(file))
    try {
      const copy = (next: DiskFile) => {
        let sum = 0
        for (const { bytes, position } of old ? piecesOf(old, end.offset) : []) {
          writeFully(next, bytes, position)
          sum = crc32(bytes, sum)
        }
        // After a failed sync the system may have dropped pages that were read before.
        if (sum !== checksum) throw new StoreError(`${journalPath(file)} has changed since it was read: start again.`)
      }
      const handle = await writeNext(disk, file, copy, end.offset)
      await putInPlace(disk, file, handle)
      return new Journal(disk, file, handle, start.seq, { ...end, length: end.offset + ZEROS.length })
    } finally {
      await old?.close().catch(() => {}) // it was only read, so an error does not matter
    }
  }

  /** Goes on at the end of a recovered journal. */
  static async resume(disk: Disk, file: string, { start, end }: JournalContent) {
    return new Journal(disk, file, await disk.open(journalPath(file)), start.seq, end)
  }

  private constructor(disk: Disk, file: string, handle: DiskFile, start: number, end: JournalEnd) {
    this.#disk = disk
    this.#file = file
    this.#handle = handle
    this.#end = { ...end }
    this.#start = start
    this.#texts = new Map(end.texts.map((text, id) => [text, id]))
  }

  get position(): Position {
    return { seq: this.#end.seq, chain: this.#end.chain }
  }

  get bytes() {
    return this.#end.offset
  }

  /** True if it has no record that a snapshot could take in. */
  get empty() {
    return this.#end.seq === this.#start
  }

  /** True if all committed units are durable, so that none has to wait. */
  get settled() {
    return !this.#writing && this.#waiting.length === 0 && !this.#dead
  }

  /** How many units wait. */
  get waiting() {
    return this.#waiting.length + (this.#batch?.length ?? 0)
  }

  /** Settles the waiter when its effects, and everything that was added before, are durable. In order. */
  add(waiter: Waiter) {
    if (this.#dead) {
      waiter.fail(this.#dead)
      return
    }
    // A unit that wrote nothing need not wait longer than for the batch that is being written.
    if (!waiter.effects && this.#batch && this.#waiting.length === 0) {
      this.#batch.push(waiter)
      return
    }
    this.#waiting.push(waiter)
    if (this.#writing) return
    if (this.#waiting.length >= FULL_BATCH) this.#write()
    else this.#schedule()
  }

  /** Seals the journal between two batches and starts a new one. Returns false if the disk has no room for one. */
  rotate(): Promise<boolean> {
    if (this.#dead) return Promise.reject(this.#dead)
    return new Promise(done => {
      this.#rotation = { done }
      this.#schedule()
    })
  }

  /** Waits for what is being written, writes the mark and truncates the zeros. Nothing may be added afterwards. */
  async close() {
    if (this.#writing || this.#waiting.length) {
      await new Promise<void>(idle => {
        this.#whenIdle = idle
      })
    }
    // Only now, because the last batch has set it. A later mark could go to another file with the same descriptor.
    clearTimeout(this.#markTimer)
    try {
      if (!this.#dead) await this.#finish()
    } finally {
      this.#dead ??= new StoreError('The database is closed.')
      await this.#handle.close().catch(() => {})
    }
  }

  /** Closes the journal and leaves the file as it is. */
  async abandon() {
    clearTimeout(this.#markTimer)
    this.#dead ??= new StoreError('The database is closed.')
    await this.#handle.close()
  }

  // Runs after the poll phase, so that all requests that have arrived by now are in the same batch.
  #schedule() {
    if (this.#scheduled || this.#writing) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#write()
    })
  }

  async #write() {
    if (this.#writing || this.#dead) return
    this.#writing = true
    clearTimeout(this.#markTimer)
    try {
      while (this.#waiting.length || this.#rotation) {
        const batch = this.#waiting
        this.#batch = batch
        this.#waiting = []
        await this.#writeBatch(batch)
        this.prove() // after the sync: a process that took over before it has not seen this batch
        this.#batch = null
        for (const waiter of batch) waiter.done()
        if (this.#rotation) await this.#rotate(this.#rotation)
      }
    } catch (error) {
      this.#die(error as Error)
    }
    this.#writing = false
    if (!this.#dead) this.markSoon()
    this.#whenIdle?.()
  }

  /** Writes the mark once nothing was written for a while. */
  markSoon() {
    this.#markTimer = setTimeout(() => this.#markWhenIdle(), MARK_AFTER_MS).unref()
  }

  async #writeBatch(batch: readonly Waiter[]) {
    const records = batch.flatMap(waiter => (waiter.effects ? [this.#record(waiter.effects)] : []))
    if (records.length === 0) return
    const end = this.#end
    const frame = this.#frame(JSON.stringify(records))
    const { seq, offset, chain: previous } = end
    const chain = sealFrame(frame, { kind: 'batch', seq, count: records.length, offset, previous })
    try {
      this.#reserve(offset + frame.length)
      writeFully(this.#handle, frame, offset)
    } catch (error) {
      await this.#handle.truncate(offset).catch(() => {})
      throw error
    }
    await this.#handle.datasync()
    end.seq += records.length
    end.offset += frame.length
    end.chain = chain
    this.batches++
    this.onBatch(end.offset)
  }

  /** `[statement, rows changed, values, statement, …]`: the first time a statement is its text, later its number. */
  #record(effects: readonly Effect[]) {
    const record: unknown[] = []
    for (const { sql, changed, values } of effects) {
      const id = this.#texts.get(sql)
      if (id === undefined) this.#texts.set(sql, this.#texts.size)
      record.push(id ?? sql, changed, values)
    }
    return record
  }

  #frame(json: string) {
    const most = HEAD_BYTES + json.length * 3 // no UTF-16 unit takes more than three bytes of UTF-8
    const frame = most <= this.#scratch.length ? this.#scratch : Buffer.allocUnsafe(most) // freed with its batch
    return frame.subarray(0, HEAD_BYTES + frame.write(json, HEAD_BYTES))
  }

  #reserve(needed: number) {
    if (needed <= this.#end.length) return
    writeFully(this.#handle, ZEROS, needed)
    this.#end.length = needed + ZEROS.length
  }

  // Not synced: the mark only helps to distinguish damage from a torn end. Without it, the end counts as torn.
  #markWhenIdle() {
    try {
      this.#mark()
    } catch {
      // The next batch will find the same fault and report it.
    }
  }

  #mark() {
    const { seq, offset, chain: previous } = this.#end
    const mark = Buffer.alloc(HEAD_BYTES)
    sealFrame(mark, { kind: 'mark', seq, count: 0, offset, previous })
    writeFully(this.#handle, mark, offset)
  }

  async #finish() {
    this.#mark()
    await this.#handle.truncate(this.#end.offset + HEAD_BYTES)
  }

  /** Each step is durable before the next, so that recovery finds an unbroken history after a crash between any two. */
  async #rotate({ done }: { done(rotated: boolean): void }) {
    const { head, end } = headOf(this.position)
    let next: DiskFile
    try {
      next = await writeNext(this.#disk, this.#file, draft => writeFully(draft, head, 0), head.length)
    } catch (error) {
      this.warn(`No new journal could be started: ${(error as Error).message}. Writing goes on in the old one.`)
      this.#rotation = null
      done(false)
      return
    }
    await this.#finish()
    await this.#handle.close()
    this.#handle = next
    this.#end = end
    this.#texts = new Map()
    await this.#disk.rename(journalPath(this.#file), sealedPath(this.#file))
    await this.#disk.syncFolder(dirname(this.#file))
    await this.#disk.rename(nextPath(this.#file), journalPath(this.#file))
    await this.#disk.syncFolder(dirname(this.#file))
    this.#rotation = null
    this.#start = end.seq
    done(true)
  }

  #die(cause: Error) {
    const error = cause instanceof StoreError ? cause : unwritable(journalPath(this.#file), cause)
    this.#dead = error
    for (const waiter of [...(this.#batch ?? []), ...this.#waiting]) waiter.fail(error)
    this.#batch = null
    this.#waiting = []
    this.#rotation?.done(false)
    this.onFatal(error)
  }
}

const unwritable = (path: string, cause: Error) =>
  new StoreError(
    `${path} can't be written: ${cause.message}. Nothing more is accepted; see to the disk, then start again.`,
    { cause },
  )

/** Creates an empty journal that follows `start`. */
const headOf = (start: Position) => {
  const head = Buffer.concat([Buffer.alloc(HEAD_BYTES), Buffer.from('{"format":1}')])
  const chain = sealFrame(head, { kind: 'head', seq: start.seq, count: 0, offset: 0, previous: start.chain })
  const end: JournalEnd = { seq: start.seq, chain, offset: head.length, length: head.length + ZEROS.length, texts: [] }
  return { head, end }
}

/** Creates a new journal, durable under a temporary name, with the `length` bytes that `write` writes and with zeros. */
const writeNext = async (disk: Disk, file: string, write: (next: DiskFile) => void, length: number) => {
  await disk.remove(nextPath(file))
  const handle = await disk.open(nextPath(file))
  try {
    write(handle)
    writeFully(handle, ZEROS, length)
    await handle.datasync()
  } catch (error) {
    await handle.close().catch(() => {})
    // It may have taken the last of the disk.
    await disk.remove(nextPath(file)).catch(() => {})
    throw error
  }
  return handle
}

/** Renames the file that `writeNext` has made, so that it is the journal from now on. */
const putInPlace = async (disk: Disk, file: string, next: DiskFile) => {
  try {
    await disk.rename(nextPath(file), journalPath(file))
    await disk.syncFolder(dirname(file))
  } catch (error) {
    await next.close().catch(() => {})
    throw error
  }
}
