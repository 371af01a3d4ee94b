/** The interface of the database. Only this folder knows which engine is behind it. */

import { type BoundedCache, boundedCache } from '../shared/bounded-cache.ts'

/** How full the database is, in bytes. */
export interface Fill {
  /** What the rows take, without the space that deleted rows have left. */
  readonly bytes: number
  /** From this size on, requests that only add data are refused. */
  readonly limit: number
}

/** What an engine tells of itself, for its operator. */
export interface EngineFigures {
  /** Of a server: what this process has open. */
  readonly connections?: { readonly idle: number; readonly in_use: number; readonly most: number }
  /** Of a file. */
  readonly journal?: {
    readonly bytes: number
    readonly batches: number
    readonly snapshots: number
    readonly snapshotBytes: number
  }
}

export type Value = string | number | null

/** Says what committed writes have changed, so that caches are exact. */
export interface Changes {
  /** Returns a number that changes whenever a committed write may have changed the table. */
  version(table: string): number
  /** Returns the ids of all rows that may have changed after that version; null if they are not known. */
  since(table: string, version: number): ReadonlySet<string> | null
}

/** The lists of a database that had as many rows as are counted, each for a while. Source: A-222. */
export type FullLists = BoundedCache<1>
export const fullLists = (): FullLists => boundedCache({ maxBytes: 1024 * 1024, bytesOf: () => 1 })

/** Runs SELECTs. The text refers to values as $1, $2 …; rows are plain objects with a field for each column. */
export interface Reader {
  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined>
  /** Rejects with a TooMuchError if the rows have more text than `mostBytes`, unless there is one alone. */
  all<Row>(sql: string, values?: readonly Value[], mostBytes?: number): Promise<Row[]>
  /**
   * null where the engine can't tell, and in a transaction that has written, because its own changes are not counted yet.
   */
  readonly changes: Changes | null
  /** Of a read. Absent: each list is counted. */
  readonly full?: FullLists | undefined
}

/** One INSERT, UPDATE or DELETE with its values. */
export interface Step {
  readonly sql: string
  readonly values: readonly Value[]
}

/** A write transaction. `get` and `all` also take INSERT, UPDATE and DELETE … RETURNING. */
export interface Tx extends Reader {
  /** Runs one INSERT, UPDATE or DELETE. Returns how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  /**
   * Runs several independent statements, each of which should change one row, and no two the same row. Returns for each
   * whether it did. An engine may return `true` before it knows, and check before the commit. If a statement changed
   * nothing, the transaction is rolled back and `work` runs again with the real results.
   */
  runAll(steps: readonly Step[]): Promise<boolean[]>
  /** Locks rows until the transaction ends, in the order of their ids. Does nothing where writers run one at a time. */
  lock(table: string, ...ids: readonly string[]): Promise<void>
  /** Calls `effect` once the transaction is durable, and never if it is rolled back. `effect` must not throw. */
  afterCommit(effect: () => void): void
}

export interface Db {
  /**
   * Reads one consistent state. Resolves only when everything that it may have read is durable. `flow`: the account or address
   * for which it reads. Where several units run at once, no flow takes all the room, however long its units take.
   */
  read<T>(work: (q: Reader) => Promise<T>, flow?: string): Promise<T>
  /**
   * Reads without one consistent state: each statement sees what is committed when it runs. For work that sends all its
   * statements at once. Postgres takes many such reads in one packet.
   */
  readCommitted<T>(work: (q: Reader) => Promise<T>): Promise<T>
  /**
   * Runs `work` as one transaction, which commits if `work` resolves and is rolled back if it throws. Resolves or rejects
   * only when everything that it wrote or may have read is durable. `work` must await nothing but `tx`, and may run more
   * than once. The embedded engine runs one write at a time. On a shared engine each statement sees what others have
   * committed by then. So lock what must not change with `tx.lock` before you read it, or decide by a conditional UPDATE.
   */
  write<T>(work: (tx: Tx) => Promise<T>, flow?: string): Promise<T>
  /** Runs a transaction while no other `migrate` runs, in any process. For the schema, and for decisions at a start. */
  migrate<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** True if other processes may use this database too. */
  readonly shared: boolean
  /** How many units wait now, to run or for the disk. Work that can be postponed may yield to them. */
  readonly waiting: number
  /** How full it is; null on Postgres if its operator has set no limit. */
  readonly fill: Fill | null
  figures(): EngineFigures
  /** Whether it has reached that limit. Each request that adds data asks this, so it takes less time than `fill`. */
  readonly isFull: boolean
  /**
   * Whether the database takes work now. Resolves within two seconds; calls within one second share a result. Never
   * rejects.
   */
  ready(): Promise<boolean>
  /** Waits for what runs, makes everything durable and releases the database. Later calls reject. */
  close(): Promise<void>
}

export type UnitKind = 'read' | 'readCommitted' | 'write' | 'migrate'

/** A unit that has ended. */
export interface UnitReport {
  readonly unit: UnitKind
  /** Until its work began, for the first time. */
  readonly waitMs: number
  /** From the end of its work until it was durable; null if the work failed. */
  readonly commitMs: number | null
  readonly runs: number
  /** The class of the error, if it is of the database. */
  readonly fault: string | null
}

/** A constraint of the database refused a row. Each engine translates its own error into this one. */
export class ConstraintError extends Error {
  readonly kind: 'unique' | 'check' | 'foreign_key' | 'not_null'

  constructor(kind: ConstraintError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** The database can't be opened or can't go on. The message says what happened, why and what to do. */
export class StoreError extends Error {}

/** The embedded database in memory is lost, though committed units are durable. A new start reads it from its files. */
export class LostError extends StoreError {}

/** The database is overloaded. Nothing was done, and a later try may pass. */
export class BusyError extends StoreError {}

/** The database is away, or takes no writes. Nothing was done, and a later try may pass. */
export class AwayError extends BusyError {
  /** Whoever runs it has been told, and will be told when it is back. */
  readonly isTold: boolean

  constructor(message: string, { isTold = false, ...options }: ErrorOptions & { isTold?: boolean } = {}) {
    super(message, options)
    this.isTold = isTold
  }
}

export const isTold = (error: unknown) => error instanceof AwayError && error.isTold

/** The rows have more text than was asked for. Their first `fit` have not. */
export class TooMuchError extends Error {
  readonly fit: number

  constructor(fit: number) {
    super(`Only ${fit} rows fit`)
    this.fit = fit
  }
}

/** Other transactions locked or changed the same rows at each try. Nothing was done, and a later try may pass. */
export class ContestedError extends StoreError {}
