/** SQLite in memory: prepared statements, rows as objects, errors by their kind, and the replay of recorded statements. */
import { boundedCache } from '../../shared/bounded-cache.ts'
import { ConstraintError, LostError, TooMuchError, type Value } from '../db.ts'
import { type DiskFile, type ReadableFile, writeFully } from './disk.ts'
import { FilePages } from './file-pages.ts'
import { type RowReader, readerOf } from './row-reader.ts'
import { KEPT_TEXTS, readSqlText, type SqlText, sqliteSchema } from './sql-text.ts'
import { type Connection, openConnection, openImage, openOnFile, type Statement } from './sqlite-wasm.ts'

/** A statement that changed something, as the journal has it, with its values in the order in which they are bound. */
export interface Effect {
  sql: string
  changed: number
  values: Value[]
}

export interface Prepared {
  sql: string
  text: SqlText
  statement: Statement
  /** Reads the current row; null until the names of its columns are known. */
  row: RowReader | null
}

export interface Result {
  rows: Record<string, Value>[]
  changed: number
  bound: Value[]
}

// Units per transaction of SQLite. Its end can take time that grows with the database: a page that was split has for a
// moment a number far beyond the last page, and SQLite then searches all pages for those beyond it.
const UNITS = 64
// Changed rows that end the transaction too, as a change of the schema does, so that a rollback has little to replay.
const ROWS = 1000
// Units that have a savepoint after one has failed, as failures come in groups. It copies every page that its unit writes.
const GUARDED = 64
// Pages of a database in a file that stay in memory.
const CACHE_KIB = 16 * 1024
const NO_ROWS: Record<string, Value>[] = []

export class Engine {
  readonly #connection: Connection
  /** The file of the database; null if it is in memory. */
  readonly file: DiskFile | null
  readonly #pages: FilePages | null
  readonly #prepared = boundedCache<Prepared>({
    maxEntries: KEPT_TEXTS,
    onLeave: ({ statement }) => statement.free(),
  })
  readonly #transaction: Statement
  readonly #end: Statement
  readonly #undo: Statement
  readonly #savepoint: Statement
  readonly #release: Statement
  readonly #undoUnit: Statement
  readonly #schemaVersion: Statement
  readonly #pageCount: Statement
  readonly #freePages: Statement
  readonly #pageBytes: number
  #open = false
  /** What each unit of the open transaction did. It is replayed if a unit without a savepoint fails. */
  #units: (readonly Effect[])[] = []
  /** How many rows they changed; a change of the schema counts as more than any. */
  #rows = 0
  /** How many of the next units have a savepoint. */
  #guarded = 0

  /** In memory. `image` is a small SQLite file; without it the database is empty. Throws if it isn't one. */
  static async open(image?: Uint8Array) {
    const connection = await openConnection()
    if (image?.length) filled(connection, await openImage(image))
    return new Engine(connection)
  }

  /** In memory, with what an SQLite file holds; of the file no more than a part is in memory beside it. */
  static async load(file: ReadableFile) {
    const connection = await openConnection()
    const pages = new FilePages(file, file.size)
    filled(connection, await openOnFile(pages), pages)
    return new Engine(connection)
  }

  /**
   * In an SQLite file of `size` bytes, or a new one, which it changes: in memory is a part of it, however long it is.
   * Nothing can be undone, and nothing is durable before the file is synced.
   */
  static async openOn(file: DiskFile, size: number) {
    const pages = size > 0 ? new FilePages(file, size) : blankPages(file)
    const connection = await openOnFile(pages)
    try {
      connection.column(`PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;
        PRAGMA cache_size=-${CACHE_KIB}`)
      return new Engine(connection, pages, file)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Like `openOn`, in a new file that takes all of `source` but its free pages. */
  static async packed(source: Engine, file: DiskFile) {
    const pages = blankPages(file)
    const target = await openOnFile(pages)
    try {
      source.#endTransaction()
      source.#connection.packInto(target)
      pages.check()
    } finally {
      target.close()
    }
    return Engine.openOn(file, pages.size)
  }

  private constructor(connection: Connection, pages: FilePages | null = null, file: DiskFile | null = null) {
    this.#connection = connection
    this.#pages = pages
    this.file = file
    connection.column('PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=ON')
    this.#transaction = connection.prepare('BEGIN')
    this.#end = connection.prepare('COMMIT')
    this.#undo = connection.prepare('ROLLBACK')
    this.#savepoint = connection.prepare('SAVEPOINT unit')
    this.#release = connection.prepare('RELEASE unit')
    this.#undoUnit = connection.prepare('ROLLBACK TO unit')
    this.#schemaVersion = connection.prepare('PRAGMA schema_version')
    this.#pageCount = connection.prepare('PRAGMA page_count')
    this.#freePages = connection.prepare('PRAGMA freelist_count')
    this.#pageBytes = Number(connection.column('PRAGMA page_size')[0])
  }

  prepare(sql: string): Prepared {
    const kept = this.#prepared.get(sql)
    if (kept) return kept
    const text = readSqlText(sql)
    const statement = this.#connection.prepare(text.kind === 'schema' ? sqliteSchema(sql) : sql)
    const prepared = { sql, text, statement, row: null }
    this.#prepared.set(sql, prepared)
    return prepared
  }

  /** Runs a prepared statement to its end, with values in the order of $1, $2 … */
  run(prepared: Prepared, values: readonly Value[], mostRows: number, mostBytes = Number.POSITIVE_INFINITY): Result {
    const bound = inOrder(prepared, values)
    const { kind } = prepared.text
    if (kind === 'schema') return { rows: NO_ROWS, changed: this.#runSchema(prepared), bound }
    const { statement } = prepared
    let rows = NO_ROWS
    try {
      statement.bind(bound)
      while (statement.step()) {
        if (rows === NO_ROWS) rows = []
        if (rows.length < mostRows) rows.push(this.#row(prepared))
        if (statement.read > mostBytes && rows.length > 1) throw new TooMuchError(rows.length - 1)
        // A write goes on to its end: only there are its constraints checked and its rows counted.
        if (kind === 'read' && rows.length === mostRows) break
      }
    } catch (error) {
      statement.reset()
      throw this.#judged(error)
    }
    statement.reset()
    return { rows, changed: kind === 'write' ? this.#connection.changed : 0, bound }
  }

  /** Replays an effect. Returns how many rows it changed. */
  replay({ sql, values }: Effect) {
    const prepared = this.prepare(sql)
    if (prepared.text.kind === 'schema') return this.#runSchema(prepared)
    const { statement } = prepared
    statement.bind(values)
    while (statement.step());
    statement.reset()
    return this.#connection.changed
  }

  /** Begins a unit. Many units share one transaction of SQLite: see UNITS. */
  begin() {
    if (!this.#open) finish(this.#transaction)
    this.#open = true
    if (this.#guarded > 0) finish(this.#savepoint)
  }

  /** Ends a unit that did `effects`. */
  commit(effects: readonly Effect[]) {
    if (this.#guarded > 0) {
      finish(this.#release)
      this.#guarded--
    }
    this.#units.push(effects)
    for (const { changed } of effects) this.#rows += changed
    if (this.#units.length === UNITS || this.#rows > ROWS) this.#endTransaction()
  }

  /** Rolls a unit back. Throws a LostError if the committed units before it could not be kept. */
  rollback() {
    try {
      if (this.#guarded > 0) {
        finish(this.#undoUnit)
        this.commit([])
      } else {
        this.#redo()
        this.#guarded = GUARDED
      }
    } catch (error) {
      throw lost(error)
    }
    this.#forgetColumns()
  }

  /** Rolls the whole transaction back and replays its committed units. */
  #redo() {
    finish(this.#undo)
    finish(this.#transaction)
    for (const effect of this.#units.flat()) {
      const changed = this.replay(effect)
      if (changed !== effect.changed) throw new Error(`${effect.sql} changed ${effect.changed} rows, then ${changed}`)
    }
  }

  #endTransaction() {
    if (this.#open) finish(this.#end)
    this.#open = false
    this.#units = []
    this.#rows = 0
  }

  /**
   * Runs `work`, which uses `replay`, as one transaction of its own. If it throws, this engine can't be used any more: it
   * keeps no page as it was before. So it takes no more memory than the units took when they ran.
   */
  replaying(work: () => void) {
    this.#endTransaction()
    this.#connection.column('PRAGMA journal_mode=OFF')
    finish(this.#transaction)
    work()
    finish(this.#end)
    this.#pages?.check()
    if (!this.#pages) this.#connection.column('PRAGMA journal_mode=MEMORY')
  }

  /** The length of the file that it lies in. Throws if SQLite has written elsewhere. */
  get fileBytes() {
    const bytes = numberOf(this.#pageCount) * this.#pageBytes
    if (bytes !== this.#pages?.size) throw new Error(`the file has ${this.#pages?.size} bytes instead of ${bytes}`)
    return bytes
  }

  /** What a statement threw, by its kind; a LostError if the transaction went with it, as it does when memory runs out. */
  #judged(error: unknown) {
    const known = translated(error)
    if (known instanceof TooMuchError) return known
    if (known instanceof ConstraintError || !this.#open) return known
    try {
      finish(this.#transaction)
    } catch (refusal) {
      if (/within a transaction/.test(String(refusal))) return known
    }
    return lost(error)
  }

  /** Runs internal statements, such as a PRAGMA. Returns the first column. */
  column(sql: string): Value[] {
    this.#endTransaction()
    const values = this.#connection.column(sql)
    this.#pages?.check()
    return values
  }

  /** The database as an SQLite file. For small ones: it is twice more in memory then. */
  bytes() {
    this.#endTransaction()
    return this.#connection.bytes()
  }

  /** Returns the bytes that the rows take. It takes a few µs and does not end the open transaction. */
  get usedBytes() {
    return (numberOf(this.#pageCount) - numberOf(this.#freePages)) * this.#pageBytes
  }

  /** Whether a quarter of the file and more is free. */
  get isSparse() {
    return numberOf(this.#freePages) * 4 > numberOf(this.#pageCount)
  }

  close() {
    this.#prepared.clear()
    for (const statement of [this.#transaction, this.#end, this.#undo]) statement.free()
    for (const statement of [this.#savepoint, this.#release, this.#undoUnit]) statement.free()
    for (const statement of [this.#schemaVersion, this.#pageCount, this.#freePages]) statement.free()
    this.#connection.close()
  }

  #runSchema(prepared: Prepared) {
    this.#rows = Number.POSITIVE_INFINITY
    // Only these may find nothing to do; asking costs as much as the statement.
    const mayBeIdle = /\bIF\s+(NOT\s+)?EXISTS\b/i.test(prepared.sql)
    const before = mayBeIdle ? numberOf(this.#schemaVersion) : null
    try {
      prepared.statement.step()
    } catch (error) {
      throw translated(error)
    } finally {
      this.#prepared.delete(prepared.sql)
    }
    this.#forgetColumns()
    return mayBeIdle && numberOf(this.#schemaVersion) === before ? 0 : 1
  }

  #row(prepared: Prepared) {
    prepared.row ??= readerOf(prepared.statement.names())
    return prepared.row(prepared.statement)
  }

  // SQLite prepares statements again by itself when tables change; the names of `SELECT *` may be others then.
  #forgetColumns() {
    for (const prepared of this.#prepared.values()) prepared.row = null
  }
}

/** A file of one byte: SQLite takes it for an empty one, and sql.js for one that has content. */
const blankPages = (file: DiskFile) => {
  writeFully(file, Buffer.alloc(1), 0)
  return new FilePages(file, 1)
}

/** Takes all of `source` into `connection`, and closes it; both if that fails. */
const filled = (connection: Connection, source: Connection, pages?: FilePages) => {
  try {
    connection.fillFrom(source)
    pages?.check()
  } catch (error) {
    connection.close()
    throw error
  } finally {
    source.close()
  }
}

const lost = (error: unknown) =>
  new LostError(`The database in memory is lost, not its file: ${(error as Error).message}. Start again.`)

const numberOf = (pragma: Statement) => {
  pragma.step()
  const value = Number(pragma.value(0))
  pragma.reset()
  return value
}

const finish = (statement: Statement) => {
  try {
    statement.step()
  } finally {
    statement.reset()
  }
}

/** A fresh array: what the caller does with his own later can't change what the journal holds. */
const inOrder = ({ sql, text }: Prepared, values: readonly Value[]): Value[] => {
  if (values.length !== text.valueCount) {
    throw new TypeError(`${text.valueCount} values belong here, not ${values.length}: ${sql}`)
  }
  const { parameters } = text
  const bound: Value[] = new Array(parameters.length)
  for (let i = 0; i < parameters.length; i++) {
    const value = values[parameters[i]! - 1]
    if (typeof value !== 'string' && value !== null && !Number.isSafeInteger(value)) {
      throw new TypeError(`$${parameters[i]} must be text, a whole number up to 2^53 or null: ${sql}`)
    }
    bound[i] = value as Value
  }
  return bound
}

const KINDS: readonly [prefix: string, kind: ConstraintError['kind']][] = [
  ['UNIQUE constraint', 'unique'],
  ['CHECK constraint', 'check'],
  ['FOREIGN KEY constraint', 'foreign_key'],
  ['NOT NULL constraint', 'not_null'],
]

const translated = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  const known = KINDS.find(([prefix]) => message.startsWith(prefix))
  return known ? new ConstraintError(known[1], message) : error
}
