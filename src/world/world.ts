/**
 * Time, randomness and network, behind one interface. Nothing outside this folder uses a clock, a random source or a
 * socket.
 */

/** A request that goes out: one webhook. */
export interface Outgoing {
  url: string
  body: string
  headers: Readonly<Record<string, string>>
  /** For the whole exchange, look-up and connection included. */
  timeoutMs: number
  /** Bytes of the answer's body that are read; the rest is dropped unread. */
  maxAnswerBytes: number
  /** On whose behalf: no account has more than its share of what all of them need. */
  account?: string
}

/** Why no answer came. Kept on the row of the attempt; never thrown. */
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
  /** Nothing was sent, and that is our own fault: no descriptor, no memory, no name server, no list of authorities. */
  | 'own_fault'

/** By their names in lower case; a list is a header that came twice. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export type OutgoingResult =
  | { ok: true; status: number; headers: AnswerHeaders; body: string; durationMs: number }
  | {
      ok: false
      reason: OutgoingFailure
      message: string
      durationMs: number
      /** It looks the same when our own network is away: `isOnline` tells. */
      unclear?: boolean
    }

export interface Egress {
  /** POSTs once, follows no redirect, checks the address it connects to. Never rejects. Source: A-42. */
  post(request: Outgoing): Promise<OutgoingResult>
  /** Whether anyone out there can be reached at this moment, after a failure that is `unclear`. Without it: always. */
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

/** `permanent`: it makes no sense to try again. */
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
  /** The machine's own time in ms: signatures, leases, time-outs. Source: A-44. */
  realNow(): number
  /** Moves domain time forward to `to` (ms); earlier times are ignored. */
  advance(to: number): void
  /** Resolves when what fell due by the last `advance` is done, or has failed. Without it: nobody does anything then. */
  caughtUp?(): Promise<void>
  /** A new sortable id with its kind's prefix: `task_…`. */
  id(prefix: string): string
  /** Unpredictable bytes for secrets (repeatable in a seeded world). */
  bytes(count: number): Buffer
  /** A number in [0, 1) for jitter and simulated behaviour. */
  chance(): number
  /** Calls `work` once after `ms` of real time. Does not keep the process alive. For waiting, never for durable work. */
  after(ms: number, work: () => void): Timer
  /** Calls `work` at every `hours`-th full hour of real UTC time. A tick, for looking at what rows say is due. */
  everyHours(hours: number, work: () => void): Timer
  readonly egress: Egress
  /** null: no mail is configured. */
  readonly mail: Mailer | null
}
