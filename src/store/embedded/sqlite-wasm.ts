/**
 * SQLite by its C functions and its memory, so that values go in and out without the copies that sql.js makes of each.
 * Source: A-101.
 */
import type { Value } from '../db.ts'
import type { FilePages } from './file-pages.ts'
import { bytesOf, type C, type Library, loadLibrary, type OpenFile, type WasmMemory } from './sqljs-internals.ts'

const OK = 0
const ROW = 100
const DONE = 101
const INTEGER = 1
const FLOAT = 2
const TEXT = 3

/** The greatest pointer of this memory. */
const MOST_BYTES = 2 ** 31

/** The buffer for values. Memory for a large value is freed with the next small one. */
const KEPT_BYTES = 1024 * 1024

let sqlite: Promise<Sqlite> | undefined

/** SQLite and its memory, once per thread. */
class Sqlite {
  readonly call: Library
  readonly #memory: WasmMemory
  #bytes: Buffer
  #room = 0
  #values: C = 0

  constructor(library: Library, memory: WasmMemory) {
    this.call = library
    this.#memory = memory
    this.#bytes = Buffer.from(memory.buffer)
  }

  /** The current memory. When it grows, it is another object, and the old one is empty. */
  get bytes() {
    if (this.#bytes.length === 0) this.#bytes = Buffer.from(this.#memory.buffer)
    return this.#bytes
  }

  /** Returns a buffer for values of up to `size` bytes, valid until the next call. */
  roomFor(size: number): C {
    const tooMuch = this.#room > KEPT_BYTES && size <= KEPT_BYTES
    if (this.#values === 0 || size > this.#room || tooMuch) {
      if (size > MOST_BYTES) throw new Error('out of memory')
      this.call._free(this.#values)
      this.#values = 0
      this.#room = 0
      const room = Math.max(size, 64 * 1024)
      this.#values = this.allocate(room)
      this.#room = room
    }
    return this.#values
  }

  allocate(size: number): C {
    const pointer = this.call._malloc(size)
    if (pointer === 0) throw new Error('out of memory')
    return pointer
  }

  /** Calls `work` with copies of the texts as C strings, which are freed afterwards. */
  withTexts<T>(texts: readonly string[], work: (...pointers: C[]) => T): T {
    const pointers = texts.map(text => {
      const pointer = this.allocate(Buffer.byteLength(text) + 1)
      this.bytes[pointer + this.bytes.write(text, pointer)] = 0
      return pointer
    })
    try {
      return work(...pointers)
    } finally {
      for (const pointer of pointers) this.call._free(pointer)
    }
  }

  /** Reads a text that ends with a zero byte. */
  textAt(pointer: C) {
    return this.bytes.toString('utf8', pointer, this.bytes.indexOf(0, pointer))
  }

  /** Calls `work` with the address of a pointer, and returns the pointer that it has written there. */
  pointerFrom(work: (address: C) => void): C {
    const address = this.allocate(4)
    try {
      work(address)
      return this.bytes.readUInt32LE(address)
    } finally {
      this.call._free(address)
    }
  }
}

/** An empty database in memory. */
export const openConnection = async () => {
  const it = await loaded()
  return new Connection(it, inMemory(it))
}

/** Opens the SQLite file in `bytes`, in the file system of sql.js, to copy from it. Throws if it is no SQLite file. */
export const openImage = async (bytes: Uint8Array) => {
  const it = await loaded()
  return new Connection(it, new it.call.Database(bytes))
}

/** Opens a database in a file on the disk. Only SQLite's page cache is in memory. */
export const openOnFile = async (pages: FilePages) => {
  const it = await loaded()
  return new Connection(it, new it.call.Database(bytesOf(pages, pages.size)))
}

const loaded = () => {
  sqlite ??= loadLibrary().then(({ library, memory }) => new Sqlite(library, memory))
  return sqlite
}

// sql.js keeps a database in a file in its own memory, and each commit copies pages there, which is not needed.
const inMemory = (sqlite: Sqlite) => {
  const { call } = sqlite
  const database = new call.Database()
  call._sqlite3_close_v2(database.db)
  database.db = sqlite.withTexts([':memory:'], name => sqlite.pointerFrom(address => call._sqlite3_open(name, address)))
  return database
}

export class Connection {
  readonly #sqlite: Sqlite
  readonly #database: OpenFile

  constructor(sqlite: Sqlite, database: OpenFile) {
    this.#sqlite = sqlite
    this.#database = database
  }

  /** Copies the other database into this one, page by page. */
  fillFrom(source: Connection) {
    const { call } = this.#sqlite
    this.#sqlite.withTexts(['main'], main => {
      const backup = call._sqlite3_backup_init(this.#database.db, main, source.#database.db, main)
      const code = call._sqlite3_backup_step(backup, -1)
      call._sqlite3_backup_finish(backup)
      if (code !== DONE) throw this.#error()
    })
  }

  /** Writes all but the free pages into the other's file, which must be empty and in use by nobody. */
  packInto(target: Connection) {
    this.column(`VACUUM INTO '${target.#database.filename}'`)
  }

  prepare(sql: string) {
    const { call } = this.#sqlite
    const statement = this.#sqlite.withTexts([sql], text =>
      this.#sqlite.pointerFrom(address => {
        if (call._sqlite3_prepare_v2(this.#database.db, text, -1, address, 0) !== OK) throw this.#error()
      }),
    )
    return new Statement(this.#sqlite, statement, () => this.#error())
  }

  /** Runs any number of statements. Returns the first column of what they read. */
  column(sql: string): Value[] {
    return this.#database.exec(sql).flatMap(result => result.values.map(row => row[0] as Value))
  }

  /** Returns how many rows the last statement changed. */
  get changed() {
    return this.#sqlite.call._sqlite3_changes(this.#database.db)
  }

  /** Returns the database as an SQLite file. Only for small ones, as it takes twice their memory. */
  bytes() {
    return this.#database.export()
  }

  /** Closes the database. Its statements must be freed before. */
  close() {
    this.#database.close()
  }

  #error() {
    return new Error(this.#sqlite.textAt(this.#sqlite.call._sqlite3_errmsg(this.#database.db)))
  }
}

/** A text that is not ASCII takes the thread many times as long: 8 ms for a megabyte. */
const WEIGHT = 4

/** A prepared statement. Errors of `step` have SQLite's message. */
export class Statement {
  readonly #sqlite: Sqlite
  readonly #pointer: C
  readonly #error: () => Error
  /** The bytes of texts that were read since values were bound; those of texts that are not ASCII count four times. */
  read = 0

  constructor(sqlite: Sqlite, pointer: C, error: () => Error) {
    this.#sqlite = sqlite
    this.#pointer = pointer
    this.#error = error
  }

  /** Binds all values of the next run, in order. They are valid until values of another statement are bound. */
  bind(values: readonly Value[]) {
    const { call } = this.#sqlite
    this.read = 0
    let size = 0
    for (const value of values) if (typeof value === 'string') size += value.length * 3 // no text takes more in UTF-8
    let at = this.#sqlite.roomFor(size)
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!
      if (typeof value === 'string') {
        const length = this.#sqlite.bytes.write(value, at)
        this.#check(call._sqlite3_bind_text(this.#pointer, i + 1, at, length, 0))
        at += length
      } else if (value === null) this.#check(call._sqlite3_bind_blob(this.#pointer, i + 1, 0, 0, 0))
      else if (value === (value | 0)) this.#check(call._sqlite3_bind_int(this.#pointer, i + 1, value))
      else this.#check(call._sqlite3_bind_double(this.#pointer, i + 1, value))
    }
  }

  /** Returns true if there is a row, false at the end. */
  step() {
    const code = this.#sqlite.call._sqlite3_step(this.#pointer)
    if (code !== ROW && code !== DONE) throw this.#error()
    return code === ROW
  }

  names(): string[] {
    const { call } = this.#sqlite
    const count = call._sqlite3_column_count(this.#pointer)
    return Array.from({ length: count }, (_, i) => this.#sqlite.textAt(call._sqlite3_column_name(this.#pointer, i)))
  }

  /** Returns a column of the current row. */
  value(column: number): Value {
    const { call } = this.#sqlite
    const type = call._sqlite3_column_type(this.#pointer, column)
    if (type === INTEGER || type === FLOAT) return call._sqlite3_column_double(this.#pointer, column)
    if (type !== TEXT) return null
    const at = call._sqlite3_column_text(this.#pointer, column)
    const size = call._sqlite3_column_bytes(this.#pointer, column)
    const text = this.#sqlite.bytes.toString('utf8', at, at + size)
    this.read += text.length === size ? size : WEIGHT * size
    return text
  }

  reset() {
    this.#sqlite.call._sqlite3_reset(this.#pointer)
  }

  free() {
    this.#sqlite.call._sqlite3_finalize(this.#pointer)
  }

  #check(code: C) {
    if (code !== OK) throw this.#error()
  }
}
