/**
 * Time, randomness and network, behind one interface. The market uses no other clock, random source or socket, so a test
 * can replace them all.
 */
import type { HeaderLines } from './header-lines.ts'

/** A request that goes out: one webhook. */
export interface Outgoing {
  url: string
  body: string
  headers: Readonly<Record<string, string>>
  /** The deadline of the whole exchange, including the DNS lookup and the connection. */
  timeoutMs: number
  /** How many bytes of the response body are read. The rest is dropped unread. */
  maxResponseBytes: number
  /** The account that it is sent for. No account gets more than its share of the common resources. */
  account?: string
  /** The result also has what was on the wire. */
  keepsWire?: boolean
}

/** An exchange as it was on the wire. `status` and what follows are of the response, as far as it came. */
export interface Wire {
  readonly sentHeaders: HeaderLines
  readonly status: number | null
  readonly headers: HeaderLines
  readonly body: Buffer
  /** The body was longer than `maxResponseBytes`. */
  readonly isCut: boolean
}

/** Why there was no response. It is stored with the attempt and never thrown. */
export type OutgoingFailure =
  | 'bad_url'
  | 'https_required'
  | 'forbidden_port'
  | 'private_address'
  | 'dns'
  | 'refused'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'bad_answer'
  /** Nothing was sent, by a fault of our own: no file descriptor, no memory, no name server, no certificate authorities. */
  | 'own_fault'

/** Headers by their names in lower case. A list means that the header came several times. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export type OutgoingResult =
  | { ok: true; status: number; headers: ResponseHeaders; body: string; durationMs: number; wire?: Wire }
  | {
      ok: false
      reason: OutgoingFailure
      message: string
      durationMs: number
      /** A failure of our own network looks the same. Ask `isOnline`. */
      unclear?: boolean
      wire?: Wire
    }

export interface Egress {
  /** POSTs once, follows no redirect, checks the address it connects to. Never rejects. Source: A-42. */
  post(request: Outgoing): Promise<OutgoingResult>
  /** Whether anything outside can be reached at this moment. Ask it after an `unclear` failure. Without it: always. */
  isOnline?(failure: OutgoingFailure): Promise<boolean>
  close(): Promise<void>
}

export interface Mail {
  /** The same when the mail is sent again, so that a mailbox can recognize a second copy. */
  id: string
  to: string
  subject: string
  text: string
}

/** `permanent`: another try can't succeed. */
export type MailResult = { ok: true } | { ok: false; permanent: boolean; message: string }

export interface Mailer {
  /** Hands one mail to the mail server. Never rejects. */
  send(mail: Mail): Promise<MailResult>
  close(): Promise<void>
}

export interface Timer {
  cancel(): void
}

export interface World {
  /** Domain time in ms since 1970 UTC: every "how long since" of the marketplace. Never goes back. Source: A-44. */
  now(): number
  /** The machine's own time in ms since 1970 UTC: for signatures, leases and time-outs. Source: A-44. */
  realNow(): number
  /** Moves domain time forward to `to` (ms); earlier times are ignored. */
  advance(to: number): void
  /** Stops domain time, until the function that it returns is called. Meanwhile only `advance` moves it. */
  stopClock(): () => void
  /**
   * Returns a new id, sortable by time, with the prefix of its kind: `task_…`. `beside`: the id of the account, or of something of
   * its, with which the row would be kept where rows are on several servers.
   */
  id(prefix: string, beside?: string | null): string
  /** Returns random bytes for secrets. In a seeded world they are repeatable. */
  bytes(count: number): Buffer
  /** Returns a random number in [0, 1), for jitter and simulated behaviour. */
  chance(): number
  /** Calls `work` once after `ms` of real time. Does not keep the process alive. Not for work that must survive a crash. */
  after(ms: number, work: () => void): Timer
  /** Calls `work` at every `hours`-th full hour of real UTC time. A call may be missed, so rows must say what is due. */
  everyHours(hours: number, work: () => void): Timer
  readonly egress: Egress
  /** null: no mail is configured. */
  readonly mail: Mailer | null
}
