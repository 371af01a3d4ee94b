/** One connection to Postgres: what is asked in one breath travels together, and a transaction's bounds with it. */
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import type { Value } from '../db.ts'
import { Batch, type Columns, type Result } from './batch.ts'
import { endsConnection } from './errors.ts'
import type { PostgresText } from './sql-text.ts'

export type Isolation = 'READ COMMITTED' | 'REPEATABLE READ READ ONLY'

interface WireSettings {
  /** false: statements are not prepared by name. */
  prepare: boolean
  statementTimeoutMs: number
}

/** The server ends a statement by itself; one that has not even said so for so long is not there any more. */
export const SILENCE_MS = 5000

/** How long the end of a read may wait for company. */
const LINGER_MS = 5

export class Wire {
  readonly #client: pg.PoolClient
  readonly #settings: WireSettings
  readonly #columns: Columns
  #batch: Batch | null = null
  #lingering: NodeJS.Timeout | null = null

  constructor(client: pg.PoolClient, settings: WireSettings, columns: Columns) {
    this.#client = client
    this.#settings = settings
    this.#columns = columns
  }

  /** Travels with the first statement, and fails it too if it fails. */
  begin(isolation: Isolation): void {
    if (this.#lingering) this.#endRead()
    this.#control(`BEGIN ISOLATION LEVEL ${isolation}`)
    // A pooler passes no start-up parameters on.
    if (!this.#settings.prepare) this.#control(`SET LOCAL statement_timeout = ${this.#settings.statementTimeoutMs}`)
  }

  ask({ text, name }: PostgresText, values: readonly Value[]): Promise<Result> {
    return this.#open().add(text, this.#settings.prepare ? name : '', values)
  }

  /** Answers how it ended. A read has nothing to lose by then: its end travels with what comes next on this connection. */
  async commit(isolation: Isolation): Promise<string> {
    if (isolation === 'REPEATABLE READ READ ONLY') {
      this.#lingering = setTimeout(() => this.#endRead(), LINGER_MS).unref()
      return 'COMMIT'
    }
    const batch = this.#open()
    const ended = batch.add('COMMIT', this.#settings.prepare ? 'COMMIT' : '')
    // A server that has this goes on to the end of it: who is told too soon that it failed is told wrong.
    batch.waitForAll(this.#settings.statementTimeoutMs, SILENCE_MS)
    this.#send()
    return (await ended).tag
  }

  async rollback(): Promise<void> {
    this.#send() // a statement that fails fails all behind it in its batch
    const ended = this.#open().add('ROLLBACK', '')
    this.#send()
    await ended
  }

  /** Sends all as one packet; resolves when all are answered, with whether the connection is sound. Outside transactions. */
  async carry(batches: readonly Batch[]): Promise<boolean> {
    if (this.#lingering) this.#endRead()
    const { stream } = (this.#client as unknown as { connection: { stream: Duplex } }).connection
    stream.cork()
    this.#send()
    const errors = batches.map(
      batch =>
        new Promise<unknown>(resolve => {
          batch.callback = resolve
          this.#client.query(batch)
        }),
    )
    stream.uncork()
    return !(await Promise.all(errors)).some(error => error && endsConnection(error))
  }

  #endRead() {
    if (this.#lingering) clearTimeout(this.#lingering)
    this.#lingering = null
    this.#control('COMMIT')
  }

  #control(text: string) {
    this.#open()
      .add(text, this.#settings.prepare ? text : '')
      .catch(() => {})
  }

  /** What is asked until this turn of the event loop is over goes as one piece. */
  #open(): Batch {
    if (!this.#batch) {
      this.#batch = new Batch(this.#columns)
      process.nextTick(() => this.#send())
    }
    return this.#batch
  }

  #send() {
    const batch = this.#batch
    this.#batch = null
    if (batch) this.#client.query(batch)
  }
}
