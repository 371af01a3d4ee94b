/** The database as the rest of the house sees it. Which engine runs is known to this folder alone. */

/** How full the database is. */
export interface Fill {
  /** What the rows take, without the room that removed ones have left. */
  readonly bytes: number
  /** From so many bytes on nothing is accepted that only makes it fuller. */
  readonly limit: number
}

export type Value = string | number | null

/** What committed writes have changed, for caches. */
export interface Changes {
  /** Another number whenever a committed write may have changed the table. */
  version(table: string): number
  /** Ids of all rows that may have changed after that version; null where nobody knows which. */
  since(table: string, version: number): ReadonlySet<string> | null
}

/** Runs SELECTs. Values stand in the text as $1, $2 …; rows come back as plain objects under their column names. */
export interface Reader {
  get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined>
  all<Row>(sql: string, values?: readonly Value[]): Promise<Row[]>
  /** Null where the engine can't tell, and in a transaction that has begun to write: it may have changed something itself. */
  readonly changes: Changes | null
}

/** One INSERT, UPDATE or DELETE with its values. */
export interface Step {
  readonly sql: string
  readonly values: readonly Value[]
}

/** A write transaction. `get` and `all` also take INSERT, UPDATE and DELETE … RETURNING. */
export interface Tx extends Reader {
  /** Runs one INSERT, UPDATE or DELETE and answers how many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
  /**
   * Runs several that need nothing of each other and of which no two touch the same row, each expected to change one.
   * Answers whether each did. A server may say so at once, and make sure of it before it commits: where one did not,
   * nothing is kept, and `work` runs anew and is told the truth.
   */
  runAll(steps: readonly Step[]): Promise<boolean[]>
  /** Holds one row against other writers until the transaction ends; a no-op where writers run one at a time. */
  lock(table: string, id: string): Promise<void>
  /** Calls `effect` once the transaction is durable; never if it is rolled back. Must not throw. */
  afterCommit(effect: () => void): void
}

export interface Db {
  /** Reads one consistent state. Resolves only when all that it may have seen is durable. */
  read<T>(work: (q: Reader) => Promise<T>): Promise<T>
  /**
   * Reads without one state for all: each statement sees what is committed by then. For work that is done with what it
   * asks in its first breath, which a server answers many of at once.
   */
  glance<T>(work: (q: Reader) => Promise<T>): Promise<T>
  /**
   * Runs `work` as one transaction: it commits if `work` resolves and is rolled back if it throws. Resolves (or rejects)
   * only when all that it wrote or may have seen is durable. `work` awaits nothing but `tx`, and may run more than once.
   * The embedded engine runs one at a time. On a shared one each statement sees what others have committed by then, so
   * what must not change under way is held by `tx.lock` before it is read, or decided by a conditional UPDATE.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** A transaction that no other of its kind runs beside, in whatever process: for the schema, and for what a start decides. */
  migrate<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** True if other processes may hold this database too. */
  readonly shared: boolean
  /** Units that wait now, for their turn or for the disk: what can be put off may give way to them. */
  readonly waiting: number
  /** How full it is; null where it has all the room of a server. */
  readonly fill: Fill | null
  /** Whether it would take work now; known within two seconds, and shared by all who ask within one. Never rejects. */
  ready(): Promise<boolean>
  /** Waits for what runs, makes everything durable, releases the database. Later calls reject. */
  close(): Promise<void>
}

/** The database itself refused a row. Every driver translates its own error into this one. */
export class ConstraintError extends Error {
  readonly kind: 'unique' | 'check' | 'foreign_key' | 'not_null'

  constructor(kind: ConstraintError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** The database can't be opened or can't go on. The message says what, why and what to do. */
export class StoreError extends Error {}

/** The embedded database in memory is gone, with units that are durable: only a start from its files brings it back. */
export class LostError extends StoreError {}

/** More is asked of the database than it can do now: nothing was done, and a later try may pass. */
export class BusyError extends StoreError {}

/** Others held or changed the same rows at the same moment, try after try: nothing was done, and a later try may pass. */
export class ContestedError extends StoreError {}

/** `columns('id', 'agentId')` → `id, agent_id AS "agentId"`: snake case in the tables, camel case in the rows. */
export const columns = (...names: readonly string[]) =>
  names.map(name => (snake(name) === name ? name : `${snake(name)} AS "${name}"`)).join(', ')

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
