/**
 * Statements that go to Postgres in one piece: a single round trip and a single Sync, whatever their number.
 *
 * For that it uses what is private to pg: the connection below a client, and how a client drives a query of another class.
 * Tried with pg 8.23.1. `provesBatches` finds out at the start whether they are there; without them statements go by
 * single-statements.ts, at four fifths of the speed.
 */
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { type BoundedCache, boundedCache } from '../../shared/bounded-cache.ts'
import type { Value } from '../db.ts'
import { codeOf, endsConnection, outdated } from './errors.ts'
import { type Asked, type PackedRead, type Result, type Sender, SILENCE_MS } from './sender.ts'
import { KEPT_TEXTS } from './sql-text.ts'
import { parserOf } from './values.ts'

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
  /** undefined until the server has described them. */
  columns: readonly Column[] | undefined
  rows: Result['rows']
  /** Why a row could not be decoded. */
  fault: unknown
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * The result columns of each text, as the server described them once. They don't change, because our texts name all
 * columns.
 */
export type Columns = BoundedCache<readonly Column[]>

export const noColumns = (): Columns => boundedCache({ maxEntries: KEPT_TEXTS })

interface Statements {
  /** The names of the statements that this connection has prepared. */
  prepared: Set<string>
  /** Names that may not be prepared, or may be prepared for another text. */
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
 * Add statements, then pass the batch to `client.query`. They run in order. The first that fails ends the batch, and the later
 * ones fail with the same error. It extends the driver's own class, because the driver pipelines only that.
 */
class Batch extends pg.Query {
  readonly #columnsOf: Columns
  readonly #parts: Part[] = []
  #at = 0
  /** Where in the batch statements are prepared. */
  #preparing: number[] = []
  /** Of its connection, from when it is sent. */
  #statements: Statements | null = null
  /** Set by the driver, to end its wait. */
  declare callback?: (error: unknown) => void
  /** How long the driver waits, in ms; as its settings say unless given. */
  declare query_timeout?: number

  constructor(columnsOf: Columns) {
    super('') // an object would be copied with all its descriptors
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
  waitForAll(statementMs: number) {
    this.query_timeout = this.#parts.length * statementMs + SILENCE_MS
  }

  override submit = (given: unknown) => {
    const connection = given as Connection
    this.#statements = statementsOf(connection)
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
    else
      part.resolve({
        rows: part.rows,
        count: Number(tag.slice(tag.lastIndexOf(' ') + 1)) || 0,
        command: tag.split(' ', 1)[0]!,
      })
  }

  handleReadyForQuery() {
    this.callback?.(null)
  }

  handleError(error: unknown) {
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

const textOf = (value: Value) => (value === null ? null : String(value))

const connectionOf = (client: pg.ClientBase) => (client as unknown as { connection?: Connection }).connection

/** Whether this version of pg has all that is used here, and answers a batch. Throws if the connection breaks meanwhile. */
export async function provesBatches(client: pg.ClientBase): Promise<boolean> {
  const connection = connectionOf(client)
  const calls = ['parse', 'bind', 'describe', 'execute', 'close', 'sync'] as const
  if (!connection?.stream?.cork || calls.some(call => typeof connection[call] !== 'function')) return false
  const batch = new Batch(noColumns())
  batch.query_timeout = PROOF_MS
  const answers = Promise.all([batch.add('SELECT 1 AS one', ''), batch.add('SELECT $1 AS two', '', ['2'])])
  try {
    client.query(batch)
    return JSON.stringify((await answers).map(({ rows }) => rows)) === '[[{"one":1}],[{"two":"2"}]]'
  } catch (error) {
    if (codeOf(error) !== '' && endsConnection(error)) throw error
    return false
  }
}

const PROOF_MS = 5000

const faultOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => null,
    error => error,
  )

/** What is asked until a turn of the event loop is over goes as one batch. */
export class BatchSender implements Sender {
  readonly isOutdated = false
  readonly #client: pg.ClientBase
  readonly #statementMs: number
  readonly #columns: Columns
  #batch: Batch | null = null

  constructor(client: pg.ClientBase, statementMs: number, columns: Columns) {
    this.#client = client
    this.#statementMs = statementMs
    this.#columns = columns
  }

  ask(asked: Asked): Promise<Result> {
    return this.#open().add(asked.text, asked.name, asked.values)
  }

  askLast(asked: Asked): Promise<Result> {
    const batch = this.#open()
    const answer = batch.add(asked.text, asked.name, asked.values)
    batch.waitForAll(this.#statementMs)
    this.send()
    return answer
  }

  send(): void {
    const batch = this.#batch
    this.#batch = null
    if (batch) this.#client.query(batch)
  }

  /** All with one Sync: groups behind one that fails were not tried, so they go once more, without it. */
  async carry(groups: readonly (readonly PackedRead[])[]): Promise<boolean> {
    const { stream } = connectionOf(this.#client)!
    for (let left = groups; left.length > 0; ) {
      stream.cork()
      this.send()
      const batch = new Batch(this.#columns)
      const ended = new Promise<unknown>(resolve => {
        batch.callback = resolve
      })
      const answers = left.map(group =>
        Promise.all(
          group.map(async ({ asked, resolve }) => resolve(await batch.add(asked.text, asked.name, asked.values))),
        ),
      )
      batch.waitForAll(this.#statementMs)
      this.#client.query(batch)
      stream.uncork()
      const [error, ...ends] = await Promise.all([ended, ...answers.map(faultOf)])
      const isLost = Boolean(error) && endsConnection(error)
      const behind = error && !isLost ? left.filter((_, i) => ends[i] === error).slice(1) : []
      for (const [i, group] of left.entries())
        if (ends[i] && !behind.includes(group)) for (const { reject } of group) reject(ends[i])
      if (isLost) return false
      left = behind
    }
    return true
  }

  #open(): Batch {
    if (!this.#batch) {
      this.#batch = new Batch(this.#columns)
      process.nextTick(() => this.send())
    }
    return this.#batch
  }
}
