/** The embedded database: SQLite in memory for speed, a journal on the disk for durability, a snapshot to start from. */
import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Db, type EngineFigures, type Fill, fullLists, type Reader, StoreError, type Tx } from '../db.ts'
import { History } from './changes.ts'
import { type Disk, realDisk } from './disk.ts'
import { fenced, type Proof, prove } from './fence.ts'
import { stepsOfStart } from './file-state.ts'
import { FillLevel, FULL_BYTES } from './fill-level.ts'
import { Journal } from './journal.ts'
import { type Lock, lockFile } from './lock.ts'
import { type Recovered, recover, runSteps } from './recovery.ts'
import { foldInWorker } from './snapshot-thread.ts'
import { Engine } from './statements.ts'
import { Unit } from './unit.ts'

export interface SqliteOptions {
  /** null: everything is only in memory, and is lost at the end. */
  file: string | null
  /** The SQLite file that a database in memory begins with. Without it, it begins without tables. */
  image?: Uint8Array | undefined
  /** Called once if the disk fails. Then no more writes are accepted, and the process should end. */
  onFatal: (error: Error) => void
  /** Called for problems that do no harm yet, such as a snapshot that failed. */
  warn?: (message: string) => void
  /** Describes this process to a second one: a command, an address. */
  holder?: string
  /** The size of the journal, in bytes, at which a snapshot is made if the last one was small. */
  journalBytes?: number
  /** The size in bytes from which on the database counts as full. */
  fullBytes?: number | undefined
}

/** What tests replace: the disk, the thread, the lock. */
export interface Parts {
  disk: Disk
  fold: (file: string, proof: Proof | null) => Promise<number>
  lock: (file: string, holder?: string) => Promise<Lock>
}

/** Tests read them. */
interface Stats {
  transactions: number
  /** How many batches were written. One batch has all transactions that were waiting. */
  batches: number
  journalBytes: number
  snapshotBytes: number
  snapshots: number
  /** Whether a snapshot is being made. */
  folding: boolean
}

export interface SqliteDb extends Db {
  /** Makes a snapshot of everything that was committed before the call. */
  snapshot(): Promise<void>
  stats(): Stats
}

const JOURNAL_BYTES = 16 * 1024 * 1024
/** While more units than this are under way, a snapshot is postponed until the journal is twice as long. */
const CROWD = 8
const parts: Parts = { disk: realDisk, fold: foldInWorker, lock: lockFile }

/** Opens the database in `file`, and creates it if it is missing. Throws a StoreError if it is in use or damaged. */
export const openSqlite = (options: SqliteOptions) => openSqliteOn(parts, options)

/** @internal Tests give it a disk that fails. */
export const openSqliteOn = async (using: Parts, options: SqliteOptions): Promise<SqliteDb> => {
  if (options.file === null) return new EmbeddedDb(await Engine.open(options.image), null, options)
  const file = using.disk === realDisk ? await realPath(options.file) : options.file
  const lock = await using.lock(file, options.holder)
  try {
    const disk = fenced(using.disk, lock.proof)
    const recovered = await recover(disk, file)
    const { journal, snapshotBytes } = await settle(disk, file, { recovered, mayWake: lock.mayWake })
    const limit = options.journalBytes ?? JOURNAL_BYTES
    const sealed = recovered.state.follow.includes('sealed')
    const storage = { journal, snapshotBytes, limit, sealed, fold: () => using.fold(file, lock.proof), lock }
    return new EmbeddedDb(recovered.engine, storage, options)
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Makes durable what was recovered, before any request can read it. */
const settle = async (disk: Disk, file: string, from: { recovered: Recovered; mayWake: boolean }) => {
  const { recovered, mayWake } = from
  try {
    // If a stalled earlier owner wakes up, it has the old file open and not the new one.
    const steps = stepsOfStart(recovered.state, recovered.found, mayWake)
    const { journal, snapshotBytes } = await runSteps(disk, file, { steps, recovered })
    return { journal: journal ?? (await Journal.resume(disk, file, recovered.current!)), snapshotBytes }
  } catch (error) {
    recovered.engine.close()
    throw error
  }
}

/** Resolves links, so that the same file under another name has the same lock. */
export const realPath = async (file: string) => {
  const folder = await realpath(dirname(file)).catch(() => {
    throw new StoreError(`${dirname(file)} is not there: make the folder first.`)
  })
  const path = join(folder, basename(file))
  return realpath(path).catch(() => path)
}

interface Storage {
  journal: Journal
  snapshotBytes: number
  limit: number
  /** True if a sealed journal waits to be folded into the snapshot. */
  sealed: boolean
  fold: () => Promise<number>
  lock: Lock
}

type Outcome<T> = { value: T } | { error: unknown }

class EmbeddedDb implements SqliteDb {
  readonly shared = false
  readonly #engine: Engine
  readonly #storage: Storage | null
  readonly #warn: (message: string) => void
  readonly #onFatal: (error: Error) => void
  readonly #fullBytes: number
  readonly #fillLevel: FillLevel
  #state: 'open' | 'closing' | 'dead' = 'open'
  #failure: StoreError | null = null
  #busy = false
  readonly #waiting: { go(): void; refuse(error: Error): void }[] = []
  readonly #history = new History()
  readonly #full = fullLists()
  #snapshots = 0
  #folding: Promise<void> | null = null
  #closing: Promise<void> | null = null
  #retryAt = 0

  constructor(engine: Engine, storage: Storage | null, options: SqliteOptions) {
    this.#engine = engine
    this.#storage = storage
    this.#warn = options.warn ?? (() => {})
    this.#onFatal = options.onFatal
    this.#fullBytes = options.fullBytes ?? FULL_BYTES
    this.#fillLevel = new FillLevel(() => this.fill, this.#warn)
    if (!storage) return
    const { journal, lock } = storage
    lock.onLost = error => this.#die(error)
    journal.prove = () => prove(lock.proof)
    journal.markSoon()
    journal.warn = this.#warn
    journal.onBatch = bytes => this.#foldIfLong(bytes)
    journal.onFatal = error => this.#die(error)
    if (storage.sealed) this.#foldAside()
  }

  get waiting() {
    return this.#waiting.length + (this.#storage?.journal.waiting ?? 0)
  }

  get fill(): Fill {
    return { bytes: this.#engine.usedBytes, limit: this.#fullBytes }
  }

  get isFull() {
    return this.#fillLevel.isFull
  }

  figures(): EngineFigures {
    if (!this.#storage) return {}
    const { journal, snapshotBytes } = this.#storage
    return { journal: { bytes: journal.bytes, batches: journal.batches, snapshots: this.#snapshots, snapshotBytes } }
  }

  readCommitted<T>(work: (q: Reader) => Promise<T>): Promise<T> {
    return this.read(work)
  }

  async read<T>(work: (q: Reader) => Promise<T>): Promise<T> {
    await this.#enter()
    const unit = new Unit(this.#engine, false, this.#history, this.#full)
    let outcome: Outcome<T>
    try {
      outcome = { value: await work(unit) }
    } catch (error) {
      outcome = { error }
    }
    unit.end()
    if (unit.lost) this.#die(unit.lost)
    this.#leave()
    return this.#settle(outcome, null)
  }

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    await this.#enterWrite()
    const unit = new Unit(this.#engine, true, this.#history)
    let outcome: Outcome<T>
    try {
      const value = await work(unit)
      unit.commit()
      outcome = { value }
      this.#history.add(unit.written)
    } catch (error) {
      outcome = { error }
      unit.rollback()
    }
    if (unit.lost) this.#die(unit.lost)
    try {
      return this.#settle(outcome, unit) // before the next unit starts, so that the journal has the order of the commits
    } finally {
      this.#leave()
    }
  }

  #die(error: StoreError) {
    if (this.#failure) return
    this.#state = 'dead'
    this.#failure = error
    this.#onFatal(error)
  }

  migrate<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write(work)
  }

  async ready() {
    return this.#state === 'open'
  }

  close() {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close() {
    // The unit under way may lose the database in memory. The files are closed all the same.
    if (this.#busy && this.#state === 'open') await this.#wait().catch(() => {})
    if (this.#state === 'open') this.#state = 'closing'
    this.#refuseWaiting()
    try {
      if (this.#storage) await this.#closeFiles(this.#storage)
    } finally {
      this.#engine.close()
    }
  }

  /** Releases the lock whatever fails, because the process may go on. */
  async #closeFiles({ journal, lock }: Storage) {
    try {
      await this.#folded()
      await journal.close()
    } finally {
      await lock.release()
    }
  }

  async snapshot() {
    if (!this.#storage) return
    await this.#folded()
    if (this.#storage.sealed) await this.#fold()
    await this.#folded()
    await this.#fold()
  }

  stats() {
    return {
      transactions: this.#fillLevel.writes,
      batches: this.#storage?.journal.batches ?? 0,
      journalBytes: this.#storage?.journal.bytes ?? 0,
      snapshotBytes: this.#storage?.snapshotBytes ?? 0,
      snapshots: this.#snapshots,
      folding: this.#folding !== null,
    }
  }

  /** Runs one unit at a time, in the order of the calls. */
  #enter(): Promise<void> | undefined {
    if (this.#state !== 'open') throw this.#refusal()
    if (this.#busy) return this.#wait()
    this.#busy = true
    return undefined
  }

  // A write begins when all requests that have arrived by now are read. Their writes follow at once, while the code and data
  // are still in the processor's caches.
  #enterWrite(): Promise<void> {
    if (this.#state !== 'open') throw this.#refusal()
    if (!this.#busy) setImmediate(() => this.#leave())
    this.#busy = true
    return this.#wait()
  }

  #wait(): Promise<void> {
    return new Promise((go, refuse) => {
      this.#waiting.push({ go, refuse })
    })
  }

  #leave() {
    if (this.#state === 'dead') this.#refuseWaiting()
    const next = this.#waiting.shift()
    if (next) next.go()
    else this.#busy = false
  }

  #refuseWaiting() {
    for (const { refuse } of this.#waiting.splice(0)) refuse(this.#refusal())
  }

  #refusal() {
    return this.#failure ?? new StoreError('The database is closed.')
  }

  /** Settles a unit when all that it wrote or may have read is durable. Its `afterCommit` effects run first. */
  #settle<T>(outcome: Outcome<T>, unit: Unit | null): Promise<T> | T {
    const journal = this.#storage?.journal
    const effects = unit?.effects.length ? unit.effects : null
    if (effects) this.#fillLevel.countWrite()
    if (!journal || (!effects && journal.settled)) {
      if ('error' in outcome) throw outcome.error
      this.#runEffects(unit)
      return outcome.value
    }
    return new Promise((resolve, reject) => {
      const done = () => {
        if ('error' in outcome) return reject(outcome.error)
        this.#runEffects(unit)
        resolve(outcome.value)
      }
      journal.add({ effects, done, fail: reject })
    })
  }

  // An error of an effect must not reach the journal, which would take it for a failed disk.
  #runEffects(unit: Unit | null) {
    for (const effect of unit?.after ?? []) {
      try {
        effect()
      } catch (error) {
        this.#warn(`What follows a commit must not throw: ${(error as Error).stack}`)
      }
    }
  }

  #foldIfLong(bytes: number) {
    const { limit, snapshotBytes } = this.#storage!
    if (this.#folding || this.#state !== 'open') return
    const due = Math.max(limit, snapshotBytes / 4, this.#retryAt)
    if (bytes < due || (bytes < 2 * due && this.waiting > CROWD)) return
    this.#foldAside()
  }

  #foldAside() {
    this.#fold().catch(error => this.#warn(`The snapshot could not be made: ${error.message}`))
  }

  async #folded() {
    while (this.#folding) await this.#folding.catch(() => {})
  }

  /** Makes snapshots one after the other, because only one journal can be sealed at a time. */
  #fold() {
    const before = this.#folding
    const folding: Promise<void> = (
      before ? before.catch(() => {}).then(() => this.#foldNow()) : this.#foldNow()
    ).finally(() => {
      if (this.#folding === folding) this.#folding = null
    })
    this.#folding = folding
    return folding
  }

  async #foldNow() {
    if (this.#state !== 'open') throw this.#refusal()
    const storage = this.#storage!
    if (!storage.sealed) {
      if (storage.journal.empty && storage.journal.settled) return
      if (!(await storage.journal.rotate())) {
        this.#retryLater()
        throw new StoreError('There is no room for a new journal.')
      }
      storage.sealed = true
    }
    try {
      storage.snapshotBytes = await storage.fold()
      storage.sealed = false
      this.#retryAt = 0
      this.#snapshots++
    } catch (error) {
      this.#retryLater() // the sealed journal stays: nothing is lost, but the next start has more to read
      throw error
    }
  }

  #retryLater() {
    this.#retryAt = this.#storage!.journal.bytes + this.#storage!.limit
  }
}
