/**
 * The journal: every committed transaction as the statements that it ran, appended in batches, each made durable by one
 * sync that serves all who wait (group commit). Exactly one batch is being written at any time; what commits meanwhile
 * is the next one. A batch counts once its sync has returned; until then nobody is told.
 *
 * Zeros are written ahead of the end, so that a sync has only data to write and no new file size. When nothing is left
 * to write, a mark of one empty frame follows the last batch: it proves that the batch was durable. The next batch
 * overwrites it.
 *
 * After a failed write or sync nothing is tried again: the system may have dropped the very pages that failed and still
 * report success the next time.
 */
import { dirname } from 'node:path'
import { StoreError } from './db.ts'
import { type Disk, type DiskFile, writeFully } from './disk.ts'
import type { Effect } from './engine.ts'
import { HEAD_BYTES, type Position, sealFrame } from './frame.ts'

/** What a unit of work waits for. `effects` is null for one that wrote nothing but may have seen what is not durable yet. */
export interface Waiter {
  effects: readonly Effect[] | null
  done(): void
  fail(error: Error): void
}

/** Where writing goes on in a journal that is there already. */
export interface JournalEnd extends Position {
  offset: number
  /** Bytes of the file, zeros behind the end included. */
  length: number
  /** The statements named so far; each is called by its place in this list. */
  texts: readonly string[]
}

export const journalPath = (file: string) => `${file}.journal`
export const sealedPath = (file: string) => `${file}.journal.sealed`
export const nextPath = (file: string) => `${file}.journal.next`

const ZEROS = Buffer.alloc(2 * 1024 * 1024)
// Enough work for one sync to be worth it, and early enough that the disk works while the rest still computes.
const FULL_BATCH = 32
const MARK_AFTER_MS = 20

export class Journal {
  readonly #disk: Disk
  readonly #file: string
  #handle: DiskFile
  #end: JournalEnd
  #start: number
  #texts: Map<string, number>
  #scratch = Buffer.allocUnsafe(256 * 1024)
  #waiting: Waiter[] = []
  #batch: Waiter[] | null = null
  #writing = false
  #scheduled = false
  #dead: StoreError | null = null
  #markTimer: NodeJS.Timeout | undefined
  #rotation: { done(rotated: boolean): void } | null = null
  #whenIdle: (() => void) | null = null
  batches = 0

  /** Called once, when a write or a sync failed; and after every batch with the bytes of the journal. */
  onFatal: (error: StoreError) => void = () => {}
  onBatch: (bytes: number) => void = () => {}
  warn: (message: string) => void = () => {}

  /** Makes a new, empty journal that follows `start`, durable under its name before it resolves. */
  static async create(disk: Disk, file: string, start: Position) {
    const next = await writeNext(disk, file, start)
    await disk.rename(nextPath(file), journalPath(file))
    await disk.syncFolder(dirname(file))
    return new Journal(disk, file, next.handle, start.seq, next.end)
  }

  /** Goes on writing where a recovered journal ends. */
  static async resume(disk: Disk, file: string, start: number, end: JournalEnd) {
    return new Journal(disk, file, await disk.open(journalPath(file)), start, end)
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

  /** True if it holds no record that a snapshot could take over. */
  get empty() {
    return this.#end.seq === this.#start
  }

  /** True if all that was committed is durable, so that nobody has to wait. */
  get settled() {
    return !this.#writing && this.#waiting.length === 0 && !this.#dead
  }

  /** Units that have not been told yet. */
  get waiting() {
    return this.#waiting.length + (this.#batch?.length ?? 0)
  }

  /** Tells the waiter when its effects, and all that was added before it, are durable. In order. */
  add(waiter: Waiter) {
    if (this.#dead) {
      waiter.fail(this.#dead)
      return
    }
    // Who wrote nothing needs no later batch than the one that is on its way.
    if (!waiter.effects && this.#batch && this.#waiting.length === 0) {
      this.#batch.push(waiter)
      return
    }
    this.#waiting.push(waiter)
    if (this.#writing) return
    if (this.#waiting.length >= FULL_BATCH) this.#write()
    else this.#schedule()
  }

  /** Between two batches, sets the journal aside as sealed and starts a new one. Answers false if there is no room for one. */
  rotate(): Promise<boolean> {
    if (this.#dead) return Promise.reject(this.#dead)
    return new Promise(done => {
      this.#rotation = { done }
      this.#schedule()
    })
  }

  /** Waits for what is being written, marks the end, gives back the zeros. Nothing may be added afterwards. */
  async close() {
    if (this.#writing || this.#waiting.length) {
      await new Promise<void>(idle => {
        this.#whenIdle = idle
      })
    }
    // Only now: whoever wrote last has set it. A mark that comes later would go where the number of this file goes then.
    clearTimeout(this.#markTimer)
    if (!this.#dead) await this.#finish()
    this.#dead ??= new StoreError('The database is closed.')
    await this.#handle.close().catch(() => {})
  }

  // After the poll phase: all requests that have arrived by now get into the same batch.
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
        this.#batch = null
        for (const waiter of batch) waiter.done()
        if (this.#rotation) await this.#rotate(this.#rotation)
      }
    } catch (error) {
      this.#die(error as Error)
    }
    this.#writing = false
    if (!this.#dead) this.#markTimer = setTimeout(() => this.#markWhenIdle(), MARK_AFTER_MS).unref()
    this.#whenIdle?.()
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

  /** `[statement, rows changed, values, statement, …]`: a statement is its text at first and its number from then on. */
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
    if (this.#scratch.length < most) this.#scratch = Buffer.allocUnsafe(most * 2)
    return this.#scratch.subarray(0, HEAD_BYTES + this.#scratch.write(json, HEAD_BYTES))
  }

  #reserve(needed: number) {
    if (needed <= this.#end.length) return
    writeFully(this.#handle, ZEROS, needed)
    this.#end.length = needed + ZEROS.length
  }

  // Not synced: it is there to tell damage from a torn end, and if it is missing the doubt is settled as a torn end.
  #markWhenIdle() {
    try {
      this.#mark()
    } catch {
      // The next batch will meet the same disk, and report it.
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

  /** Each step is durable before the next: whichever was the last before a crash, recovery finds one unbroken history. */
  async #rotate({ done }: { done(rotated: boolean): void }) {
    let next: Awaited<ReturnType<typeof writeNext>>
    try {
      next = await writeNext(this.#disk, this.#file, this.position)
    } catch (error) {
      await this.#disk.remove(nextPath(this.#file)).catch(() => {})
      this.warn(`No new journal could be started: ${(error as Error).message}. Writing goes on in the old one.`)
      this.#rotation = null
      done(false)
      return
    }
    await this.#finish()
    await this.#handle.close()
    this.#handle = next.handle
    this.#end = next.end
    this.#texts = new Map()
    await this.#disk.rename(journalPath(this.#file), sealedPath(this.#file))
    await this.#disk.syncFolder(dirname(this.#file))
    await this.#disk.rename(nextPath(this.#file), journalPath(this.#file))
    await this.#disk.syncFolder(dirname(this.#file))
    this.#rotation = null
    this.#start = next.end.seq
    done(true)
  }

  #die(cause: Error) {
    const error = new StoreError(
      `${journalPath(this.#file)} can't be written: ${cause.message}. Nothing more is accepted; see to the disk, then start again.`,
      { cause },
    )
    this.#dead = error
    for (const waiter of [...(this.#batch ?? []), ...this.#waiting]) waiter.fail(error)
    this.#batch = null
    this.#waiting = []
    this.#rotation?.done(false)
    this.onFatal(error)
  }
}

const writeNext = async (disk: Disk, file: string, start: Position) => {
  await disk.remove(nextPath(file))
  const handle = await disk.open(nextPath(file))
  const head = Buffer.concat([Buffer.alloc(HEAD_BYTES), Buffer.from('{"format":1}')])
  const chain = sealFrame(head, { kind: 'head', seq: start.seq, count: 0, offset: 0, previous: start.chain })
  try {
    writeFully(handle, head, 0)
    writeFully(handle, ZEROS, head.length)
    await handle.datasync()
  } catch (error) {
    await handle.close().catch(() => {})
    throw error
  }
  const end = { seq: start.seq, chain, offset: head.length, length: head.length + ZEROS.length, texts: [] as string[] }
  return { handle, end }
}
