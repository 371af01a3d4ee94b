/** The database on a Postgres server, which any number of processes may share. */
import pg from 'pg'
import { AwayError, type Db, type FullLists, fullLists, type Reader, StoreError, type Tx } from '../db.ts'
import { type Isolation, Wire } from './connection.ts'
import { createSlots, OWN, type Slots } from './connection-queue.ts'
import { codeOf, exhausted, FencedError, translated, triesFor, uncertain, unreached } from './errors.ts'
import { Hosts } from './hosts.ts'
import { lacksOf, withoutThem } from './lacks.ts'
import { PackedReads } from './packed-reads.ts'
import { BatchSender, noColumns, provesBatches } from './pg-internals.ts'
import { Reach } from './reconnect.ts'
import { type PackedRead, SILENCE_MS } from './sender.ts'
import { Session } from './session.ts'
import { SingleStatements } from './single-statements.ts'
import { Size } from './size.ts'
import { notAll } from './sql-text.ts'
import { PostgresTx } from './transaction.ts'

export interface PostgresOptions {
  /** postgres://user:password@host:port/database; several hosts with commas between: the one that takes writes is used */
  url: string
  /** How many connections this process opens at most. */
  poolSize?: number
  /** Whether statements are prepared by name; unless given, they are if no pooler is between. */
  prepare?: boolean | undefined
  /** How long one statement may run, in ms. */
  statementTimeoutMs?: number
  /** The size in bytes from which on it counts as full; unless given, there is no limit of ours. */
  fullBytes?: number | undefined
  /** How long a unit may wait until one of the connections is free, in ms. */
  queueTimeoutMs?: number
  warn?: (message: string) => void
}

const DEFAULTS = { poolSize: 10, statementTimeoutMs: 15_000, queueTimeoutMs: 15_000 }
const CONNECT_TIMEOUT_MS = 5000
const KEEP_ALIVE_MS = 30_000
const PROBE_TIMEOUT_MS = 1000
const PROBE_KEPT_MS = 1000

/** Opens the database, and connects once to test it. Throws a StoreError that says what to check. */
export async function openPostgres(options: PostgresOptions): Promise<Db> {
  const settings = { ...DEFAULTS, ...options }
  const warn = options.warn ?? (() => {})
  const session = new Session({ ...settings, warn })
  const hosts = new Hosts(options.url)
  const config = poolConfig(settings, hosts)
  const greeting = (timeoutMs: number) => ({ onConnect: (client: pg.ClientBase) => session.greet(client, timeoutMs) })
  const pool = new pg.Pool({ ...config, ...greeting(CONNECT_TIMEOUT_MS) })
  // An idle connection that the server ends is replaced when the next one is needed.
  pool.on('error', error => warn(`A connection to Postgres has ended: ${error.message}`))
  const probes = new pg.Pool({ ...config, ...probing, ...greeting(PROBE_TIMEOUT_MS) })
  probes.on('error', () => {})
  // An error of a connection in use fails its statement. Without a listener it would also end the process.
  for (const each of [pool, probes]) each.on('connect', client => client.on('error', () => {}))
  try {
    const client = await hosts.each(() => pool.connect())
    const [inBatches, lacks] = await askedOf(client)
    session.lacks = lacks
    if (!inBatches) warn(NO_BATCHES)
    if (lacks.size > 0) warn(withoutThem(lacks))
    const size = options.fullBytes === undefined ? null : new Size(() => sizeOf(probes), options.fullBytes, warn)
    await size?.look()
    return new PostgresDb({ pool, probes, hosts, session, settings, inBatches, size, warn })
  } catch (error) {
    await Promise.all([pool.end(), probes.end()])
    const isOurs = error instanceof StoreError && !(error instanceof AwayError)
    throw isOurs ? error : new StoreError(unreachable(hosts, error as Error))
  }
}

async function askedOf(client: pg.PoolClient) {
  let isSound = false
  try {
    const [inBatches, lacks] = [await provesBatches(client), await lacksOf(client)]
    isSound = inBatches && lacks.size === 0
    return [inBatches, lacks] as const
  } finally {
    client.release(!isSound)
  }
}

async function sizeOf(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query('SELECT pg_database_size(current_database()) AS bytes')
  return Number(rows[0].bytes)
}

const NO_BATCHES =
  'This version of pg takes no batches: statements go to Postgres one by one, and submits take a fifth longer. npm install pg@~8.23.1 mends it.'

function poolConfig({ poolSize, statementTimeoutMs }: typeof DEFAULTS, hosts: Hosts): pg.PoolConfig {
  return {
    Client: hosts.Client,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + SILENCE_MS,
    // The system ends connections that nothing comes back on.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    pipeline: true,
    application_name: 'marketplace',
  }
}

/** A connection for readiness checks only, so that they need not wait behind requests. */
const probing = {
  max: 1,
  connectionTimeoutMillis: PROBE_TIMEOUT_MS,
  query_timeout: PROBE_TIMEOUT_MS,
  allowExitOnIdle: true,
}

function unreachable({ name, count }: Hosts, error: Error): string {
  const said = `Postgres can't be reached (${name}): ${error.message}.`
  if (codeOf(error) === TOO_MANY)
    return `${said} Let it take more connections (max_connections), or give each instance fewer (--db-pool).`
  if (!(error instanceof AwayError))
    return `${said} Check that the server runs, the address, the name and the password.`
  return count > 1
    ? `${said} Promote one of them, or name the one that takes writes.`
    : `${said} Name the server that takes writes, or all of them: postgres://user:password@one,two/database.`
}

/** The server, the role or the database has as many connections as it may. */
const TOO_MANY = '53300'

interface PostgresParts {
  pool: pg.Pool
  probes: pg.Pool
  hosts: Hosts
  session: Session
  settings: typeof DEFAULTS
  /** Whether statements that are issued together go as one batch. */
  inBatches: boolean
  size: Size | null
  warn: (message: string) => void
}

type Work<T> = (tx: Tx) => Promise<T>

interface Transacting {
  flow?: string
  trusting?: boolean
  /** Of a read. */
  full?: FullLists
}

class PostgresDb implements Db {
  readonly shared = true
  readonly #size: Size | null
  readonly #pool: pg.Pool
  readonly #probes: pg.Pool
  readonly #slots: Slots
  readonly #reach: Reach
  readonly #hosts: Hosts
  readonly #session: Session
  readonly #settings: typeof DEFAULTS
  readonly #warn: (message: string) => void
  readonly #wires = new WeakMap<pg.PoolClient, Wire>()
  readonly #inBatches: boolean
  readonly #columns = noColumns()
  readonly #full = fullLists()
  readonly #packedReads = new PackedReads(groups => this.#carry(groups))
  #readiness: Promise<boolean> | null = null
  #closing: Promise<unknown> | null = null

  constructor({ pool, probes, hosts, session, settings, inBatches, size, warn }: PostgresParts) {
    this.#size = size
    this.#pool = pool
    this.#probes = probes
    this.#slots = createSlots(settings.poolSize, settings.queueTimeoutMs)
    this.#reach = new Reach(() => hosts.once(() => this.#look()), warn)
    this.#hosts = hosts
    this.#session = session
    this.#settings = settings
    this.#inBatches = inBatches
    this.#warn = warn
  }

  get waiting() {
    return this.#slots.waiting
  }

  get fill() {
    return this.#size?.fill ?? null
  }

  get isFull() {
    const { fill } = this
    return fill !== null && fill.bytes >= fill.limit
  }

  figures() {
    const { totalCount, idleCount } = this.#pool
    return { connections: { idle: idleCount, in_use: totalCount - idleCount, most: this.#settings.poolSize } }
  }

  read<T>(work: (q: Reader) => Promise<T>, flow = OWN): Promise<T> {
    return this.#again(() => this.#transact('REPEATABLE READ READ ONLY', work, { flow, full: this.#full }))
  }

  readCommitted<T>(work: (q: Reader) => Promise<T>): Promise<T> {
    // Behind a pooler, a statement outside a transaction has no time limit.
    return this.#again(() => (this.#session.isPooled ? this.read(work) : this.#packedReads.read(work)))
  }

  write<T>(work: Work<T>, flow = OWN): Promise<T> {
    return this.#again(trusting => this.#transact('READ COMMITTED', work, { flow, trusting }))
  }

  async migrate<T>(work: Work<T>): Promise<T> {
    const hasLocks = !this.#session.lacks.has('advisory locks')
    if (!hasLocks) await this.write(tx => tx.run('CREATE TABLE IF NOT EXISTS migrating (id INTEGER PRIMARY KEY)'))
    return this.#again(() =>
      this.#transact('READ COMMITTED', async tx => {
        await tx.get(MIGRATING)
        await (hasLocks ? tx.get('SELECT pg_advisory_xact_lock(742001)') : tx.run(LOCK_ROW))
        return work(tx)
      }),
    )
  }

  ready() {
    if (this.#closing) return Promise.resolve(false)
    this.#readiness ??= this.#probe()
    return this.#readiness
  }

  async close() {
    this.#reach.end()
    this.#closing ??= Promise.all([this.#pool.end(), this.#probes.end()])
    await this.#closing
  }

  /** A server without a connection to spare works for those that are there. */
  async #probe(): Promise<boolean> {
    const answers = await this.#hosts
      .once(() => this.#look())
      .then(
        () => true,
        error => codeOf(error) === TOO_MANY && this.#pool.totalCount > 0,
      )
    if (answers) this.#reach.back()
    setTimeout(() => {
      this.#readiness = null
    }, PROBE_KEPT_MS).unref()
    return answers
  }

  /** Rejects if the server does not answer, or takes no writes any more. */
  async #look(): Promise<void> {
    const client = await this.#probes.connect()
    try {
      await this.#session.greet(client, PROBE_TIMEOUT_MS)
      client.release()
    } catch (error) {
      if (error instanceof AwayError) this.#hosts.leave(client)
      client.release(true)
      throw error
    }
  }

  /** Runs a unit again after a conflict with others, or after an expected change did not happen. */
  async #again<T>(attempt: (trusting: boolean) => Promise<T>): Promise<T> {
    let trusting = true
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(trusting)
      } catch (error) {
        if (trusting && codeOf(error) === notAll) {
          trusting = false
          continue
        }
        if (this.#session.learnsFrom(error) && tries === 1) continue
        if (tries >= triesFor(error, this.#session.lacks.has('levels of isolation'))) throw exhausted(error)
        await pause(tries)
      }
    }
  }

  async #transact<T>(
    isolation: Isolation,
    work: Work<T>,
    { flow = OWN, trusting = false, full }: Transacting = {},
  ): Promise<T> {
    const { client, release } = await this.#connect(flow)
    const tx = new PostgresTx(this.#wire(client), isolation, trusting, full)
    try {
      const value = await work(tx)
      await tx.commit().catch(error => Promise.reject(uncertain(translated(error))))
      release()
      tx.runEffects(this.#warn)
      return value
    } catch (error) {
      if (error instanceof FencedError) this.#hosts.leave(client)
      // A connection in an unknown state is not reused.
      tx.rollback().then(
        () => release(),
        () => release(true),
      )
      throw translated(error)
    }
  }

  /** Never rejects: each read reports its own error. */
  async #carry(groups: readonly (readonly PackedRead[])[]): Promise<void> {
    try {
      const { client, release } = await this.#connect(OWN)
      release(!(await this.#wire(client).carry(groups)))
    } catch (error) {
      for (const { reject } of groups.flat()) reject(error)
    }
  }

  /**
   * Acquires a slot before a connection, because the pool's own queue has the same time limit for waiting and for connecting.
   * Many requests may wait long, but an unreachable server must be noticed soon.
   */
  async #connect(flow: string) {
    if (this.#closing) throw new StoreError('The database is closed.')
    this.#proveReach()
    const begun = performance.now()
    for (;;) {
      await this.#slots.acquire(flow)
      const from = performance.now()
      const giveBack = () => this.#slots.release(flow, performance.now() - from)
      try {
        const client = await this.#dial()
        const release = (broken?: boolean) => {
          client.release(broken || this.#wire(client).isOutdated || this.#hosts.hasLeft(client))
          giveBack()
        }
        return { client, release }
      } catch (error) {
        const isLate = performance.now() - begun > this.#settings.queueTimeoutMs
        // Those that are there go from one to the next, while no more can be had.
        if (codeOf(error) === TOO_MANY) this.#slots.narrow(this.#pool.totalCount)
        giveBack()
        if (codeOf(error) !== TOO_MANY || isLate) throw unreached(error)
      }
    }
  }

  /** Prefers an open connection, also while new ones fail. */
  #proveReach() {
    if (this.#pool.idleCount === 0) this.#reach.prove()
  }

  async #dial(): Promise<pg.PoolClient> {
    this.#proveReach() // the server may have become unreachable during the wait
    try {
      for (;;) {
        const client = await this.#hosts.each(() => this.#pool.connect())
        if (!this.#hosts.hasLeft(client)) return client
        client.release(true)
      }
    } catch (error) {
      this.#reach.lost(error as Error)
      throw error
    }
  }

  #wire(client: pg.PoolClient): Wire {
    let wire = this.#wires.get(client)
    if (!wire) {
      const { statementTimeoutMs } = this.#settings
      const sender = this.#inBatches
        ? new BatchSender(client, statementTimeoutMs, this.#columns)
        : new SingleStatements(client, statementTimeoutMs)
      wire = new Wire(sender, this.#session)
      this.#wires.set(client, wire)
    }
    return wire
  }
}

/**
 * Others that migrate may take as long as a statement may. What is copied comes from elsewhere, so between statements it may
 * take its time.
 */
const MIGRATING = `SELECT set_config('lock_timeout', '0', TRUE),
  set_config('idle_in_transaction_session_timeout', '60000', TRUE)`

/** Whoever else writes the row waits until this transaction has ended. */
const LOCK_ROW = 'INSERT INTO migrating (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET id = excluded.id'

// Units that failed together must not all retry at the same moment.
let jitter = 0
const pause = (tries: number) => new Promise(resolve => setTimeout(resolve, Math.min(tries, 20) * (1 + (jitter++ % 8))))
