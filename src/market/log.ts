/** The typed entries of the log. The screen of `dev`, its --json stream and the deployment's log all print these. */
import type { DiagnosisRecord } from '../api/diagnosis/record.ts'
import type { FailureName } from '../api/failures.ts'
import type { FaultName } from '../api/faults.ts'

export type LogEntry =
  | {
      type: 'request'
      method: string
      path: string
      /** The path as the interface writes it, with parameters; null if there is no such path. */
      route: string | null
      status: number
      ms: number
      requestId: string
      userId: string | null
      /** The client's address, as rate limits count it. */
      address: string
      /** The name of the refusal. A refusal that is stored under an Idempotency-Key has none. */
      refusal?: FailureName
      /** Why it was refused; only in a simulator, as are the next. */
      error?: string
      /** That, and what helps. */
      hint?: string
      /** The same of a callback. */
      diagnosis?: DiagnosisRecord
      /** The command line sent it. */
      own?: true
    }
  | {
      /** A webhook goes out; only in a simulator. */
      type: 'sending'
      event: string
      taskId: string
      agentId: string
      deliveryId: string
      attempt: number
    }
  | {
      type: 'webhook'
      event: string
      taskId: string
      agentId: string
      deliveryId: string
      attempt: number
      outcome: 'delivered' | 'retry' | 'failed'
      status: number | null
      reason: string | null
      ms: number
      nextAttemptAt: string | null
      /** Why there was no response; only in a simulator, as are the next. */
      message?: string
      /** The beginning of the response, and how many bytes were read of it. */
      responseBody?: string
      responseBytes?: number
      /** What is wrong, and what helps. */
      diagnosis?: DiagnosisRecord
    }
  | {
      type: 'sign_in'
      outcome: 'signed_in' | 'unknown_email' | 'wrong_password' | 'code_missing' | 'wrong_code' | 'banned' | 'too_early'
      /** null if nobody has the email. The email itself is not logged. */
      userId: string | null
      /** The client's address, as rate limits count it; null for the marketplace itself. */
      address: string | null
    }
  | {
      /**
       * A connection that was closed or refused to protect the others. `…_bytes`: the memory for unread responses, or for
       * arriving bodies, was full, and this client address used most of it. `arriving_files`: so was the room for files whose
       * uploads go on, and an account at this address used most.
       */
      type: 'cut_off'
      reason:
        | 'slow_reader'
        | 'connections'
        | 'connections_of_address'
        | 'unread_bytes'
        | 'arriving_bytes'
        | 'arriving_files'
      address: string | null
    }
  | CallbackEntry
  | { type: 'money'; kind: string; amount: number; from: string; to: string; taskId: string | null }
  | { type: 'task'; taskId: string; trigger: string; from: string | null; to: string }
  | {
      type: 'check'
      agentId: string
      check: number
      name: string
      status: string
      message: string
      durationMs: number
      diagnosis?: DiagnosisRecord
    }
  | {
      type: 'mail'
      mailId: string
      kind: string
      /** `shown`: the simulator has no mail server, so the entry contains the mail. */
      outcome: 'sent' | 'retry' | 'failed' | 'shown'
      reason: string | null
      mail?: { to: string; subject: string; text: string }
    }
  | { type: 'start'; version: string; url: string; engine: 'embedded' | 'postgres'; db: string; pid: number }
  | { type: 'stop'; reason: string; ms: number }
  /** Numbers of the migrations before and after; 0: an empty database. */
  | { type: 'migration'; from: number; to: number; applied: readonly string[] }
  /** A start has created the first administrator. */
  | { type: 'administrator'; userId: string; email: string }
  /** A line that an agent process of the simulator has written. */
  | { type: 'output'; agent: string; stream: 'stdout' | 'stderr'; line: string }
  /** What a simulated buyer is about to do, or the administrator for it. */
  | { type: 'persona'; persona: string; step: string; taskId: string | null; agentId: string; message: string }
  /** A webhook or a callback meets what somebody has prepared for it; only in a simulator. */
  | { type: 'fault'; fault: FaultName; on: string; taskId: string; agentId: string | null }
  | { type: 'clock'; now: string; byMs: number }
  | { type: 'info'; message: string }
  | {
      type: 'warning'
      message: string
      /** Of a simulator: what is wrong, with which agent, at which task. */
      diagnosis?: DiagnosisRecord
      agentId?: string
      taskId?: string
    }
  | { type: 'error'; message: string; stack?: string; requestId?: string }

/** What an agent has answered about a task, or to a connection test. */
export interface CallbackEntry {
  type: 'callback'
  /** The task, or the connection test. */
  taskId: string
  /** null: there is no such task. */
  agentId: string | null
  action: string
  /** How the agent proved who it is; `test`: by a signature too, but about a connection test. */
  via: 'signature' | 'key' | 'test'
  status: number
  /** Why it was refused. */
  error: string | null
  /** What is wrong, and what helps; only in a simulator. */
  diagnosis?: DiagnosisRecord
  /** What the task is after it; null for a message, a test and a refusal. */
  taskStatus: string | null
  ms: number
}

/** Never throws, never blocks, never holds a secret. */
export type Log = (entry: LogEntry) => void

/** An entry as it leaves the marketplace. */
export type StampedEntry = LogEntry & {
  /** Counts from the start of the process. */
  seq: number
  /** Domain time, in ms since 1970. */
  at: number
  /** Real time, in ms since 1970. */
  realAt: number
}

/** Of a world. */
interface Clock {
  now(): number
  realNow(): number
}

/** Numbers entries, and gives them the times of `clock` until another is set. */
export function stamped(write: (entry: StampedEntry) => void, clock: Clock) {
  let current = clock
  let seq = 0
  const log: Log = entry => write({ seq: ++seq, at: current.now(), realAt: current.realNow(), ...entry })
  return {
    log,
    setClock(other: Clock) {
      current = other
    },
  }
}

const LONGEST = 500
const LONGEST_STACK = 4_000

/** Returns a log that cuts long values, as some are a client's own text. A mail that the simulator shows stays whole. */
export const withShortValues =
  (log: Log): Log =>
  entry => {
    const values = entry as unknown as Readonly<Record<string, unknown>>
    let short: Record<string, unknown> | undefined
    for (const name in values) {
      const value = values[name]
      const most = name === 'stack' ? LONGEST_STACK : LONGEST
      if (typeof value !== 'string' || value.length <= most) continue
      short ??= { ...values }
      short[name] = `${value.slice(0, most).toWellFormed()}…`
    }
    log((short ?? values) as unknown as LogEntry)
  }
