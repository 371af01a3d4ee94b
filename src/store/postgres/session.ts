/** What each new connection is asked and told before its first unit: whether it takes writes, whose it is, and its limits. */
import type pg from 'pg'
import { AwayError } from '../db.ts'
import { codeOf } from './errors.ts'
import { type Lacks, NOTHING } from './lacks.ts'

/**
 * The server ends a transaction that waits for its client for so long. So an instance that stands still, or that nothing
 * reaches any more, holds no row for longer than others can bear.
 */
const STALLED_MS = 2_500
/**
 * Less than half of that: the server would else hand the row to the next in line of the same instance, and so on, each for
 * `STALLED_MS`. Half, because in one statement a place in line and the row are waited for one after the other. More
 * than the second after which the server looks for a deadlock. Who is well tries again (`LOCK_TRIES`).
 */
const LOCK_MS = 1_200

/** In ms, and in seconds: when the server ends a connection whose client takes nothing, or is gone. A pooler has its own. */
const SOCKETS = {
  tcp_user_timeout: 10_000,
  tcp_keepalives_idle: 30,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 3,
}

export interface SessionOptions {
  /** undefined: unless a pooler is between. */
  prepare?: boolean | undefined
  statementTimeoutMs: number
  warn: (message: string) => void
}

export class Session {
  readonly #prepare: boolean | undefined
  readonly #warn: (message: string) => void
  readonly #limits: Readonly<Record<string, number>>
  /** How often something was not there that this process had prepared. */
  #lost = 0
  /** Whether a pooler gives the server's process to others between transactions: nothing may stay in its session. */
  isPooled: boolean
  /** Set once the server was asked. */
  lacks: Lacks = NOTHING

  constructor({ prepare, statementTimeoutMs, warn }: SessionOptions) {
    this.#prepare = prepare
    this.#warn = warn
    this.#limits = {
      statement_timeout: statementTimeoutMs,
      lock_timeout: LOCK_MS,
      idle_in_transaction_session_timeout: STALLED_MS,
    }
    this.isPooled = prepare === false
  }

  /** Whether statements are prepared by name. */
  get prepares() {
    return this.#prepare ?? !this.isPooled
  }

  /** Sets the limits for one transaction. */
  get limitsOfTransaction() {
    return `SELECT ${Object.entries(this.#limits).map(([name, value]) => `set_config('${name}', '${value}', TRUE)`)}`
  }

  /**
   * Rejects if the server takes no writes. The parameters of a start would set the limits sooner, but a pooler refuses
   * those. A pooler tells each client of a process that is not the server's.
   */
  async greet(client: pg.ClientBase, timeoutMs: number): Promise<void> {
    const told = Number((client as { processID?: number | null }).processID) || 0
    const limits = Object.entries({ ...this.#limits, ...SOCKETS }).map(([name, value]) => `('${name}', '${value}')`)
    const query = { text: greeting(told, limits.join(', ')), query_timeout: timeoutMs }
    const [{ pid, standby, locked }] = (await client.query(query)).rows
    if (standby) throw new AwayError('it is a standby, which takes no writes')
    if (locked === 'on') throw new AwayError('it takes no writes (default_transaction_read_only is on)')
    if (pid !== told) this.isPooled = true
  }

  /** Whether an error shows that a pooler is between after all, so that the same would pass by now. */
  learnsFrom(error: unknown): boolean {
    const code = codeOf(error)
    if (this.#prepare !== undefined || (code !== '26000' && code !== '42P05')) return false
    // The first one may be somebody's DEALLOCATE.
    if (code === '26000' && ++this.#lost < 2) return false
    if (!this.isPooled) this.#warn(POOLER)
    this.isPooled = true
    return true
  }
}

const greeting = (told: number, limits: string) => `
  SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS locked,
    (SELECT COUNT(set_config(name, value, FALSE)) FROM (VALUES ${limits}) limits (name, value)
     WHERE pg_backend_pid() = ${told} AND name IN (SELECT name FROM pg_settings)) AS set`

const POOLER =
  'A pooler in transaction mode stands before Postgres, as statements that were prepared are gone or are another’s. From now on none is prepared. --db-prepare off says so from the start.'
