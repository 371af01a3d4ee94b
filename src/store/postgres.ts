/** The database on a Postgres server, shared by as many processes as it takes. */
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { type Db, type Reader, type Step, StoreError, type Tx, type Value } from './db.ts'
import { exhausted, translated, triesFor } from './postgres-errors.ts'
import { gather } from './postgres-gather.ts'
import { joinedText, postgresText } from './postgres-text.ts'
import { createTurns, type Turns } from './turns.ts'

export interface PostgresOptions {
  /** postgres://user:password@host:port/database */
  url: string
  /** Connections of this process at most. */
  poolSize?: number
  /** false: statements are not prepared by name, for poolers in transaction mode. */
  prepare?: boolean
  /** How long one statement may run, in ms. */
  statementTimeoutMs?: number
  /** How long a unit may wait until one of the connections is free, in ms. */
  queueTimeoutMs?: number
  warn?: (message: string) => void
}

const DEFAULTS = { poolSize: 10, prepare: true, statementTimeoutMs: 15_000, queueTimeoutMs: 15_000 }
const CONNECT_TIMEOUT_MS = 5000
// The server ends a statement by itself; one that has not even said so is not there any more.
const SILENCE_MS = 5000
const PROBE_TIMEOUT_MS = 1000
const PROBE_KEPT_MS = 1000

/** Connects once before it resolves. Throws a StoreError that says what to check. */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const settings = { ...DEFAULTS, ...options }
  const config = poolConfig(settings)
  const pool = new pg.Pool(config)
  const warn = options.warn ?? (() => {})
  // One in use fails the statement it carries; without a listener it would end the process as well.
  pool.on('connect', client => client.on('error', () => {}))
  // An idle connection that the server ends is replaced when the next one is needed.
  pool.on('error', error => warn(`A connection to Postgres has ended: ${error.message}`))
  const probes = new pg.Pool({ ...config, ...probing })
  probes.on('error', () => {})
  try {
    const client = await pool.connect()
    client.release()
  } catch (error) {
    await Promise.all([pool.end(), probes.end()])
    throw new StoreError(unreachable(options.url, error as Error))
  }
  return new PostgresDb({ pool, probes, settings, warn })
}

function poolConfig({ url, poolSize, prepare, statementTimeoutMs }: PostgresOptions & typeof DEFAULTS): pg.PoolConfig {
  return {
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + SILENCE_MS,
    // A pooler passes no start-up parameters on: there each transaction says it for itself.
    ...(prepare ? { statement_timeout: statementTimeoutMs } : {}),
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
    pipeline: true,
    application_name: 'marketplace',
  } as pg.PoolConfig
}

/** A connection aside, which requests that queue for the others can't keep the question from. */
const probing = {
  max: 1,
  connectionTimeoutMillis: PROBE_TIMEOUT_MS,
  query_timeout: PROBE_TIMEOUT_MS,
  allowExitOnIdle: true,
}

const INT8 = 20

/** BIGINT as a number: all of ours are safe integers, and one that is not must not be rounded in silence. */
function typeParser(oid: number, format: 'text' | 'binary' = 'text') {
  if (oid !== INT8) return pg.types.getTypeParser(oid, format as 'text')
  return (text: string) => {
    const value = Number(text)
    if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond the safe integers`)
    return value
  }
}

function unreachable(url: string, { message }: Error): string {
  const { host, pathname, username } = URL.canParse(url) ? new URL(url) : { host: '?', pathname: '/?', username: '?' }
  const where = `database ${pathname.slice(1)} at ${host} as ${username || 'the default user'}`
  return `Postgres can't be reached (${where}): ${message}. Check that the server runs, the address, the name and the password.`
}

interface PostgresParts {
  pool: pg.Pool
  probes: pg.Pool
  settings: typeof DEFAULTS
  warn: (message: string) => void
}

type Work<T> = (tx: Tx) => Promise<T>

class PostgresDb implements Db {
  readonly shared = true
  readonly #pool: pg.Pool
  readonly #probes: pg.Pool
  readonly #turns: Turns
  readonly #settings: typeof DEFAULTS
  readonly #warn: (message: string) => void
  #readiness: Promise<boolean> | null = null
  #closing: Promise<unknown> | null = null

  constructor({ pool, probes, settings, warn }: PostgresParts) {
    this.#pool = pool
    this.#probes = probes
    this.#turns = createTurns(settings.poolSize, settings.queueTimeoutMs)
    this.#settings = settings
    this.#warn = warn
  }

  get waiting() {
    return this.#turns.waiting
  }

  read<T>(work: (q: Reader) => Promise<T>): Promise<T> {
    return this.#transact('REPEATABLE READ READ ONLY', work, true)
  }

  write<T>(work: Work<T>): Promise<T> {
    return this.#again(() => this.#transact('READ COMMITTED', work))
  }

  migrate<T>(work: Work<T>): Promise<T> {
    return this.#transact('READ COMMITTED', async tx => {
      await tx.get('SELECT pg_advisory_xact_lock(742001)')
      return work(tx)
    })
  }

  ready() {
    if (this.#closing) return Promise.resolve(false)
    this.#readiness ??= this.#probe()
    return this.#readiness
  }

  async close() {
    this.#closing ??= Promise.all([this.#pool.end(), this.#probes.end()])
    await this.#closing
  }

  async #probe(): Promise<boolean> {
    const answers = await this.#probes.query('SELECT 1').then(
      () => true,
      () => false,
    )
    setTimeout(() => {
      this.#readiness = null
    }, PROBE_KEPT_MS).unref()
    return answers
  }

  /** Runs anew what lost against others at the same moment. */
  async #again<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt()
      } catch (error) {
        if (tries >= triesFor(error)) throw exhausted(error)
        await pause(tries)
      }
    }
  }

  /**
   * The pool's own queue is never used: it has one limit for waiting in it and for reaching the server, and a crowd may
   * wait for long where a server that is away must be noticed soon.
   */
  async #transact<T>(isolation: string, work: Work<T>, readOnly = false): Promise<T> {
    if (this.#closing) throw new StoreError('The database is closed.')
    await this.#turns.take()
    const client = await this.#pool.connect().catch(error => {
      this.#turns.give()
      throw translated(error)
    })
    const release = (broken?: boolean) => {
      client.release(broken)
      this.#turns.give()
    }
    const tx = new PostgresTx(client, this.#settings.prepare)
    try {
      // Not awaited: it travels with the first statement, and fails it too if it fails.
      gather(streamOf(client))
      client.query(this.#begin(isolation)).catch(error => tx.fail(error))
      const value = await work(tx)
      const ended = client.query('COMMIT')
      // A read has nothing to lose by then: who comes next on this connection stands behind its end.
      if (readOnly) ended.catch(() => {})
      else tx.assertCommitted((await ended).command)
      tx.end()
      release()
      tx.runEffects(this.#warn)
      return value
    } catch (error) {
      tx.end()
      // A connection in an unknown state is not used again.
      client.query('ROLLBACK').then(
        () => release(),
        () => release(true),
      )
      throw translated(error)
    }
  }

  #begin(isolation: string) {
    const { prepare, statementTimeoutMs } = this.#settings
    const limit = prepare ? '' : `; SET LOCAL statement_timeout = ${statementTimeoutMs}`
    return `BEGIN ISOLATION LEVEL ${isolation}${limit}`
  }
}

class PostgresTx implements Tx {
  readonly changes = null
  readonly #client: pg.PoolClient
  readonly #prepare: boolean
  readonly #after: (() => void)[] = []
  #ended = false
  #failure: unknown = null

  constructor(client: pg.PoolClient, prepare: boolean) {
    this.#client = client
    this.#prepare = prepare
  }

  async get<Row>(sql: string, values: readonly Value[] = []) {
    return (await this.#query(sql, values)).rows[0] as Row | undefined
  }

  async all<Row>(sql: string, values: readonly Value[] = []) {
    return (await this.#query(sql, values)).rows as Row[]
  }

  async run(sql: string, values: readonly Value[] = []) {
    return (await this.#query(sql, values)).rowCount ?? 0
  }

  async runAll(steps: readonly Step[]) {
    const sql = joinedText(steps.map(step => step.sql))
    const values = steps.flatMap(step => step.values)
    return Object.values((await this.#query(sql, values)).rows[0] as Record<string, number>)
  }

  async lock(table: string, id: string) {
    await this.#query(`SELECT id FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`, [id])
  }

  afterCommit(effect: () => void) {
    if (this.#ended) throw tooLate()
    this.#after.push(effect)
  }

  end() {
    this.#ended = true
  }

  /** The first failure counts: whatever was sent behind it fails for it, in words that say nothing of why. */
  fail(error: unknown) {
    this.#failure ??= translated(error)
    return this.#failure
  }

  /** The server ends a transaction in which something has failed otherwise than it was told, and calls that no error. */
  assertCommitted(command: string) {
    if (command !== 'COMMIT') throw this.#failure ?? new StoreError(`The transaction has ended by ${command}.`)
  }

  runEffects(warn: (message: string) => void) {
    for (const effect of this.#after) {
      try {
        effect()
      } catch (error) {
        warn(`What follows a commit must not throw: ${(error as Error).stack}`)
      }
    }
  }

  async #query(sql: string, values: readonly Value[]) {
    if (this.#ended) throw tooLate()
    const { text, name } = postgresText(sql)
    gather(streamOf(this.#client))
    try {
      const query = { text, values: values as Value[], ...(this.#prepare && name ? { name } : {}) }
      const result = await this.#client.query(query)
      if (this.#failure) throw this.#failure
      return result
    } catch (error) {
      throw this.fail(error)
    }
  }
}

/** The driver's types leave it out. */
const streamOf = (client: pg.PoolClient) => (client as unknown as { connection: { stream: Duplex } }).connection.stream

const tooLate = () => new StoreError('This transaction has ended: use it only inside the function that was given it.')

// Those who lost together must not all come back together.
let turn = 0
const pause = (tries: number) => new Promise(resolve => setTimeout(resolve, Math.min(tries, 6) * (1 + (turn++ % 8))))
