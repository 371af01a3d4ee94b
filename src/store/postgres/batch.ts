/** Statements that go to Postgres in one piece: a single round trip, whatever their number. */
import type { Duplex } from 'node:stream'
import pg from 'pg'
import type { Value } from '../db.ts'
import { codeOf } from './errors.ts'

export interface Result {
  rows: Record<string, Value>[]
  /** Rows read or changed. */
  count: number
  /** What was done, in the server's words: `UPDATE 1`. */
  tag: string
}

/** What the driver's types leave out. */
interface Connection {
  stream: Duplex
  parse(statement: { text: string; name: string }): void
  bind(portal: { statement: string; values: readonly Value[]; valueMapper: (value: Value) => string | null }): void
  describe(what: { type: 'P'; name: '' }): void
  execute(portal: { portal: '' }): void
  close(what: { type: 'S'; name: string }): void
  sync(): void
}

interface Column {
  name: string
  parse(text: string): Value
}

interface Part {
  text: string
  name: string
  values: readonly Value[]
  /** Undefined until the server has said. */
  columns: readonly Column[] | undefined
  rows: Result['rows']
  /** Why a row could not be understood. */
  fault: unknown
  resolve(result: Result): void
  reject(error: unknown): void
}

/** What each text answers with, as the server said once: columns are named in our texts, so that it stays so. */
export type Columns = Map<string, readonly Column[]>

interface Statements {
  /** Names under which this connection has statements prepared. */
  prepared: Set<string>
  /** Names that it may have or not, or not as they are needed. */
  doubtful: Set<string>
}

const statements = new WeakMap<Connection, Statements>()

function statementsOf(connection: Connection): Statements {
  let found = statements.get(connection)
  if (!found) {
    found = { prepared: new Set(), doubtful: new Set() }
    statements.set(connection, found)
  }
  return found
}

/**
 * Add statements, then hand it to `client.query`. They run in order; the first that fails ends the batch, and those behind
 * it fail with its error. The driver lets only its own class travel behind others of its kind.
 */
export class Batch extends pg.Query {
  readonly #columnsOf: Columns
  readonly #parts: Part[] = []
  #at = 0
  /** Where in the batch statements are prepared. */
  #preparing: number[] = []
  /** Of its connection, from when it is sent. */
  #statements: Statements | null = null
  /** Nothing can be added any more. */
  sent = false
  /** Set by the driver, to end its wait. */
  declare callback?: (error: unknown) => void
  /** How long the driver waits, in ms; as its settings say unless given. */
  declare query_timeout?: number

  constructor(columnsOf: Columns) {
    super({ text: '' })
    this.#columnsOf = columnsOf
  }

  /** `name`: prepared under it, once for each connection; empty: for this time alone. */
  add(text: string, name: string, values: readonly Value[] = []): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#parts.push({
        text,
        name,
        values,
        columns: this.#columnsOf.get(text),
        rows: [],
        fault: null,
        resolve,
        reject,
      })
    })
  }

  /** Lets the answer take so long that each statement may, and `silenceMs` besides: no part is answered before the last. */
  waitForAll(statementMs: number, silenceMs: number) {
    this.query_timeout = this.#parts.length * statementMs + silenceMs
  }

  override submit = (given: unknown) => {
    const connection = given as Connection
    this.#statements = statementsOf(connection)
    this.sent = true
    connection.stream.cork()
    for (const [at, part] of this.#parts.entries()) this.#send(connection, part, at)
    connection.sync()
    connection.stream.uncork()
    return null
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }) {
    const part = this.#parts[this.#at]!
    part.columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }))
    this.#columnsOf.set(part.text, part.columns)
  }

  handleDataRow({ fields }: { fields: (string | null)[] }) {
    const part = this.#parts[this.#at]!
    const columns = part.columns!
    const row: Record<string, Value> = {}
    try {
      for (let i = 0; i < columns.length; i++) {
        const { name, parse } = columns[i]!
        const text = fields[i]!
        row[name] = text === null ? null : parse(text)
      }
      part.rows.push(row)
    } catch (error) {
      part.fault ??= error
    }
  }

  handleCommandComplete({ text: tag }: { text: string }) {
    const part = this.#parts[this.#at++]!
    if (!part.columns) this.#columnsOf.set(part.text, [])
    if (part.fault) part.reject(part.fault)
    else part.resolve({ rows: part.rows, count: Number(tag.slice(tag.lastIndexOf(' ') + 1)) || 0, tag })
  }

  handleReadyForQuery() {
    this.callback?.(null)
  }

  handleError(error: unknown) {
    this.sent = true
    for (const at of this.#preparing) if (at >= this.#at) this.#doubt(this.#parts[at]!.name)
    if (outdated.includes(codeOf(error))) {
      for (const name of this.#statements!.prepared) this.#doubt(name)
      this.#columnsOf.clear()
    }
    for (const part of this.#parts.slice(this.#at)) part.reject(error)
    this.callback?.(error)
  }

  #doubt(name: string) {
    this.#statements!.prepared.delete(name)
    this.#statements!.doubtful.add(name)
  }

  #send(connection: Connection, { text, name, values, columns }: Part, at: number) {
    const { prepared, doubtful } = this.#statements!
    if (name === '' || !prepared.has(name)) {
      if (doubtful.delete(name)) connection.close({ type: 'S', name })
      connection.parse({ text, name })
      if (name !== '') {
        prepared.add(name)
        this.#preparing.push(at)
      }
    }
    connection.bind({ statement: name, values, valueMapper: textOf })
    if (!columns) connection.describe({ type: 'P', name: '' })
    connection.execute({ portal: '' })
  }
}

/**
 * The server has not what was prepared, has another of its name, or its columns are of other types by now: a pooler has
 * changed the server's side, or a migration the tables. The next time all is prepared anew.
 */
const outdated = ['26000', '42P05', '0A000']

const textOf = (value: Value) => (value === null ? null : String(value))

const INT8 = 20

/** BIGINT as a number: all of ours are safe integers, and one that is not must not be rounded in silence. */
function parserOf(oid: number): (text: string) => Value {
  return oid === INT8 ? safeInteger : pg.types.getTypeParser(oid, 'text')
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond the safe integers`)
  return value
}
