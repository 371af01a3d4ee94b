/**
 * What is private to sql.js and used here: the C functions of SQLite that it exports, its memory, and how it keeps the
 * content of a file. Tried with sql.js 1.16.0. All of it is looked for when it is loaded; without it the embedded engine
 * does not start. The only file that knows sql.js. Source: A-101.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import type initSqlJs from 'sql.js'
import { StoreError } from '../db.ts'

export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

/** SQLite compiled for this machine. It can be handed to another thread. */
export interface Program {
  readonly program: unique symbol
}

/** What is used here of the language's own object, which the types of Node leave out. */
const { compile, instantiate, Memory } = (globalThis as unknown as { WebAssembly: WebAssemblyObject }).WebAssembly

interface WebAssemblyObject {
  compile(code: Uint8Array): Promise<Program>
  instantiate(program: Program, imports: unknown): Promise<{ exports: Record<string, unknown> }>
  Memory: new (size: { initial: number }) => WasmMemory
}

/** A number of the C interface: a pointer, the address of a value, a result code. */
export type C = number

export interface Library {
  Database: new (bytes?: Uint8Array) => OpenFile
  _malloc(size: number): C
  _free(pointer: C): void
  _sqlite3_open(name: C, database: C): C
  _sqlite3_close_v2(database: C): C
  _sqlite3_errmsg(database: C): C
  _sqlite3_changes(database: C): number
  _sqlite3_backup_init(target: C, targetName: C, source: C, sourceName: C): C
  _sqlite3_backup_step(backup: C, pages: number): C
  _sqlite3_backup_finish(backup: C): C
  _sqlite3_prepare_v2(database: C, sql: C, length: number, statement: C, rest: C): C
  _sqlite3_finalize(statement: C): C
  _sqlite3_bind_text(statement: C, parameter: number, text: C, length: number, release: C): C
  _sqlite3_bind_double(statement: C, parameter: number, value: number): C
  _sqlite3_bind_int(statement: C, parameter: number, value: number): C
  _sqlite3_bind_blob(statement: C, parameter: number, bytes: C, length: number, release: C): C
  _sqlite3_step(statement: C): C
  _sqlite3_reset(statement: C): C
  _sqlite3_column_count(statement: C): number
  _sqlite3_column_name(statement: C, column: number): C
  _sqlite3_column_type(statement: C, column: number): C
  _sqlite3_column_double(statement: C, column: number): number
  _sqlite3_column_text(statement: C, column: number): C
  _sqlite3_column_bytes(statement: C, column: number): number
}

/** A database of sql.js; `db` is the C interface's pointer to it, `filename` the name of its file there. */
export type OpenFile = initSqlJs.Database & { db: C; readonly filename: string }

/** What sql.js keeps the bytes of a file in. It asks for a part, gives bytes, and looks how long it is. */
export interface FileContent {
  readonly length: number
  subarray(from: number, to: number): Uint8Array
  set(bytes: Int8Array, position: number): void
}

/** What sql.js is given as the bytes of a new file. It takes a copy of them, which is the content itself. */
export const bytesOf = (content: FileContent, size: number) =>
  ({ length: size, subarray: () => content, slice: () => content }) as unknown as Uint8Array

const require = createRequire(import.meta.url)
let program: Promise<Program> | undefined

/**
 * Lets the engine optimise a function of SQLite once it has worked a while, instead of after the first fifty steps of a
 * statement. The greatest functions take other processors 0.1 s and 35 MB each. Call it before `compiled`. Source: A-257.
 */
export const optimiseLater = () => setFlagsFromString(`--wasm-tiering-budget=${2e9}`)

/** Compiles SQLite, once in a thread. */
export const compiled = () => {
  program ??= readFile(require.resolve('sql.js/dist/sql-wasm.wasm')).then(compile)
  return program
}

/** Uses what another thread has compiled. */
export const useCompiled = (given: Program) => {
  program = Promise.resolve(given)
}

export interface Loaded {
  library: Library
  memory: WasmMemory
}

/** Throws a StoreError if this version of sql.js lacks a part. */
export const loadLibrary = async (): Promise<Loaded> => {
  const code = await compiled()
  let memory: WasmMemory | undefined
  // The one way to its memory: sql.js keeps it to itself.
  const instantiateWasm = (imports: unknown, ready: (instance: unknown) => void) => {
    instantiate(code, imports).then(instance => {
      memory = Object.values(instance.exports).find(value => value instanceof Memory)
      ready(instance)
    })
  }
  // `import` would first look through all of it for the names that it exports.
  const init: typeof initSqlJs = require('sql.js')
  return proven((await init({ instantiateWasm } as object)) as unknown as Library, memory)
}

const functions: Readonly<Record<Exclude<keyof Library, 'Database'>, true>> = {
  _malloc: true,
  _free: true,
  _sqlite3_open: true,
  _sqlite3_close_v2: true,
  _sqlite3_errmsg: true,
  _sqlite3_changes: true,
  _sqlite3_backup_init: true,
  _sqlite3_backup_step: true,
  _sqlite3_backup_finish: true,
  _sqlite3_prepare_v2: true,
  _sqlite3_finalize: true,
  _sqlite3_bind_text: true,
  _sqlite3_bind_double: true,
  _sqlite3_bind_int: true,
  _sqlite3_bind_blob: true,
  _sqlite3_step: true,
  _sqlite3_reset: true,
  _sqlite3_column_count: true,
  _sqlite3_column_name: true,
  _sqlite3_column_type: true,
  _sqlite3_column_double: true,
  _sqlite3_column_text: true,
  _sqlite3_column_bytes: true,
}

/** Tests take parts away. */
export function proven(library: Library, memory: WasmMemory | undefined): Loaded {
  const missing = Object.keys(functions).filter(name => typeof library[name as keyof Library] !== 'function')
  if (memory && missing.length === 0 && readsContent(library)) return { library, memory }
  const what = missing.join(', ') || (memory ? 'files as they were' : 'a memory that can be found')
  throw new StoreError(
    `This version of sql.js does not have what the embedded engine calls (${what}). Install the version it was tried with: npm install sql.js@~1.16.0. Or use Postgres: --db postgres://…`,
  )
}

/** Whether a database is a pointer, and the content of its file is asked for where it lies. */
function readsContent({ Database }: Library): boolean {
  let asked = false
  const content = {
    length: Number.MAX_SAFE_INTEGER,
    subarray(from: number, to: number) {
      asked = true
      return new Uint8Array(to - from)
    },
    set() {},
  }
  const database = new Database(bytesOf(content, 4096))
  try {
    database.exec('PRAGMA schema_version')
  } catch {
    // zeros are no database
  } finally {
    database.close()
  }
  return asked && database.db !== undefined
}
