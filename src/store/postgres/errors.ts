/** Translates the errors of Postgres and its driver into those of db.ts, and says which are worth another try. */
import { AwayError, BusyError, ConstraintError, ContestedError, StoreError } from '../db.ts'

const kinds: Readonly<Record<string, ConstraintError['kind']>> = {
  23505: 'unique',
  23514: 'check',
  23503: 'foreign_key',
  23502: 'not_null',
}

/** Serialization failure and deadlock: nothing was done. */
const contested = ['40001', '40P01']

/** A lock was not to be had in time: nothing was done. */
const locked = '55P03'
/** Some 12 s together, less than a statement may take: the refusal says what was waited for. */
const LOCK_TRIES = 10

/** Statement time-out, no connection or memory left: nothing was done. */
const busy = ['57014', locked, '53300', '53200']
// The driver gives these no code.
const tooSlowToConnect = /^(?:timeout exceeded when trying to connect|Connection terminated due to connection timeout)$/

/** The server ends connections with these, and Node tells of connections that have ended. */
const lostCodes = /^(?:57P0|25P0[34]|08|E(?:CONN|PIPE|TIMEDOUT|HOST|NET))/
const SILENCE = 'Query read timeout'
const lostWords =
  /^(?:Connection terminated(?: unexpectedly)?|Query read timeout|Client (?:has encountered a connection error|was closed) and is not queryable)$/

/** The server takes no writes: it is a standby, or was made read-only. */
const readOnly = '25006'

const diskFull = '53100'

/** The connection has ended before COMMIT was sent: nothing was done. */
class CutError extends AwayError {}

/** The server took writes when it was connected to, and takes none any more: nothing was done, and another may take them. */
export class FencedError extends AwayError {}

export function translated(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code = '', message } = error as Error & { code?: string }
  const kind = kinds[code]
  if (kind) return new ConstraintError(kind, message)
  if (busy.includes(code) || tooSlowToConnect.test(message))
    return new BusyError(`Postgres is busy: ${message}`, { cause: error })
  if (code === readOnly) return new FencedError(`Postgres takes no writes: ${message}`, { cause: error })
  if (code === diskFull)
    return new StoreError(`The disk of Postgres is full: ${message}. Make room there.`, { cause: error })
  if (lostCodes.test(code) || lostWords.test(message))
    return new CutError(`The connection to Postgres has ended: ${message}. Check that the server runs.`, {
      cause: error,
    })
  return error
}

/** The error of a connection that could not be made. */
export function unreached(error: unknown): unknown {
  const said = translated(error)
  if (!(error instanceof Error) || !(said instanceof CutError || tooSlowToConnect.test(error.message))) return said
  return new AwayError(`Postgres can't be reached: ${error.message}`, { cause: error })
}

/** The error of a COMMIT that was sent: if the connection has ended, nobody knows whether something was done. */
export const uncertain = (error: unknown) =>
  error instanceof CutError ? new StoreError(error.message, { cause: error.cause }) : error

/**
 * Returns how often work is tried after this error. What a connection has cut off may pass on another, and what one server
 * refuses on the one that takes writes now; after a long silence nobody would wait for that. After a serialization failure or a deadlock it may succeed the next
 * time. A violated constraint may be caused by a row that another transaction wrote at the same moment. When the work runs
 * again it sees that row, and either acts on it or refuses in its own words. `isStrict`: all transactions are SERIALIZABLE, so that
 * those lose too which would have waited.
 */
export function triesFor(error: unknown, isStrict = false): number {
  if (isContested(error)) return isStrict ? 60 : 12
  if (error instanceof BusyError && codeOf(error.cause) === locked) return LOCK_TRIES
  if (error instanceof FencedError) return 2
  if (error instanceof CutError) return (error.cause as Error).message === SILENCE ? 1 : 2
  return error instanceof ConstraintError && (error.kind === 'unique' || error.kind === 'foreign_key') ? 4 : 1
}

/** Returns the error for work that has failed at every try. */
export const exhausted = (error: unknown) =>
  isContested(error) ? new ContestedError((error as Error).message, { cause: error }) : error

const isContested = (error: unknown) => contested.includes(codeOf(error))

/** Returns the code of an error of Postgres; '' for any other. */
export const codeOf = (error: unknown) => (error as { code?: string } | null)?.code ?? ''

/**
 * The server has not what was prepared, has another of its name, or its columns are of other types by now: a pooler has
 * changed the server's side, or a migration the tables.
 */
export const outdated = ['26000', '42P05', '0A000']

/** The server ends connections with the first two codes. ECONNRESET and the like are Node's. The driver's errors have none. */
export const endsConnection = (error: unknown) => /^(?:57P|25P0[34]|08|E|$)/.test(codeOf(error))
