/** Every length, count, price and duration of the interface. Source: I-limits unless a line names a decision. */

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

export const limits = {
  /** Any price field, in cents; the upper end is A-17. */
  price: { min: 200, max: 1_000_000_000_000 },
  task: { title: [5, 200], description: [20, 10_000], requirements: [0, 5_000] },
  agent: {
    name: [2, 100],
    tagline: [10, 200],
    description: [50, 5_000],
    categories: [1, 4],
    tags: 10,
    /** */
    tag: [1, 50],
    turnaroundHours: [1, 720],
    turnaroundHoursDefault: 24,
    maxRevisions: [0, 10],
    /** */
    slug: 60,
    samples: 10,
    /** How many reports of tests by hand are kept, and how many of heartbeats. */
    reports: 7,
  },
  /** Categories of a budget authorization. Source: A-177. */
  budgetCategories: [1, 100],
  /** */
  category: { name: [2, 100], slug: 60, description: [1, 500] },
  /** */
  sample: { title: [2, 200], input: [0, 5_000], output: [1, 50_000] },
  /** How many different words a search may have, and by how many words one agent is indexed. A-182 */
  search: { query: [0, 200], words: 16, wordsPerAgent: 500 },
  key: { perAccount: 10, name: [1, 100] },
  deliverable: { content: [1, 50_000], notes: [0, 2_000], files: 5, fileBytes: 10 * 1024 * 1024 },
  /** The longest name of a file, in code points. A-22 */
  fileName: 255,
  /** */
  message: [1, 5_000],
  /** */
  review: { rating: [1, 5], comment: [0, 2_000] },
  /** */
  reason: {
    revision: [1, 2_000],
    dispute: [10, 2_000],
    reject: [0, 2_000],
    review: [1, 2_000],
    resolution: [1, 2_000],
  },
  /** */
  account: {
    password: [10, 128],
    name: [2, 100],
    email: 254,
    /** Mails with a reset token to one account in the hour for which a token is valid. Source: A-192. */
    resetMails: 3,
    /** Mails of one kind about security changes to one account in an hour. Source: A-212. */
    noticeMails: 10,
  },
  /** How many sessions an account may have. Beyond that, the least recently used one ends. Source: A-195. */
  session: { perAccount: 50, userAgent: 200 },
  /** `typed`: the most characters of a code as people type it. */
  secondFactor: { recoveryCodes: 10, typed: 100 },
  /** The usual bytes of a row with its response. The quota of an account counts rows of this size. A-39 */
  idempotency: { usualBytes: 4 * 1024 },
  /**
   * `reach`: how many entries of a list can be paged through, and are counted. A-222. `mebibytes`: how much text one page may
   * have. A-289
   */
  page: { default: 20, max: 100, reach: 10_000, mebibytes: 4 },
  /** What the history of a task has: of each of its sources the last, of a long text the beginning, and a page at most so much of it. A-305 */
  history: { ofEach: 1_000, characters: 500, page: 1_000 },
  /** */
  url: 2_048,
  /** */
  jsonBytes: 1024 * 1024,
  /**
   * Streams of events for one session or key, or of changes for one account; streams for one account in all; and after how long without an event
   * a comment is sent. Of changes so many are kept, and their stream ends after so many comments, so that who has signed out hears no more.
   *
   */
  streams: { atOnce: 4, account: 16, commentMs: 15_000, changes: 10_000, comments: 20 },
  /** The exchanges that a simulator keeps: how many, how much of them in all, and of one body. A-238 */
  recording: { exchanges: 10_000, mebibytes: 64, bodyMebibytes: 1 },
  /** When an embedded database counts as full, unless told, and the largest size that may be told. A-50 */
  database: { fullMebibytes: 1024, mostMebibytes: 1536 },
  /** The deepest JSON. No body of the interface needs more than a few levels. A-17 */
  jsonDepth: 32,
  /** The most commas in a body. No body of the interface needs a hundred. Source: A-177. */
  jsonCommas: 10_000,
  /** The length of the part of a key that stays readable. A-11 */
  keyPrefix: 12,
} as const

export const durations = {
  disputeWindowMs: 48 * hour,
  /** */
  clearingMs: 48 * hour,
  freshMs: 24 * hour,
  amberMs: 20 * hour,
  webhookTimeoutMs: 30 * second,
  testCallbackMs: 15 * second,
  /** How long one request moves the simulator's clock, and waits for what falls due by it. In real time. A-233 */
  clockMoveMs: 30 * second,
  signatureToleranceMs: 5 * minute,
  /** How much the clocks of instances may differ. If they differ more, agents refuse the signatures of one of them. */
  clockToleranceMs: 5 * minute,
  /** */
  seenSignatureMs: 10 * minute,
  /** */
  trustedAfterMs: 30 * day,
  /** */
  session: { absoluteMs: 30 * day, idleMs: 7 * day, touchMs: minute },
  /** */
  keyTouchMs: minute,
  /** `runningMs` is real time. */
  idempotency: { keptMs: 24 * hour, runningMs: 2 * minute },
  /** */
  passwordResetMs: hour,
  /** How long the row of a webhook is kept. Its body is deleted sooner. */
  deliveryRowMs: 365 * day,
  /** Mails that could not be sent. Longer than all attempts take together. */
  unsentMailMs: 7 * day,
  /** */
  secretGraceMaxHours: 24,
  hourMs: hour,
  dayMs: day,
  /** how far one request moves the simulator's clock. */
  clockStepMs: 3_650 * day,
} as const

/** The latest time of the simulator's clock. Later, years would get five digits, and the clock never goes back. A-44 */
export const lastClockMs = Date.UTC(9000, 0, 1)

/**
 * The simulator's clock. `listed`: how much of what fell due the response to a move lists. `named`: of what is still under
 * way. `steps`: the most that one move may be asked for. `scale`: how many times as fast as real time it may run, `scaleStepMs`:
 * how often it is moved then. A-233
 */
export const clockMoves = { listed: 1_000, named: 10, steps: 1_000, scale: 10_000, scaleStepMs: second / 2 } as const

/** Waits between the attempts of one webhook, ±20 %. Source: A-37. */
export const retryScheduleMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour] as const
export const retryJitter = 0.2
/** As many waits for the webhooks of a `marketplace dev`: whoever writes an agent starts it again within seconds. A-236 */
export const quickRetryScheduleMs = [second, 2 * second, 5 * second, 15 * second, minute, 5 * minute, hour] as const
/** An agent may ask for no longer pause than the longest of them. */
export const retryAfterMaxMs = Math.max(...retryScheduleMs)

/** How many bytes of an agent's response are read, and how many the log keeps. Source. */
export const mostResponseBytes = 20_000
export const keptResponseBytes = 2_048

/** Retention and quotas, which an operator may set. Source: A-49. */
export interface Keeping {
  /** How long the delivery log keeps requests and responses after a delivery has ended. */
  readonly deliveryDays: number
  readonly notificationDays: number
  /** Files of all deliverables of one account, in MiB. */
  readonly fileMiB: number
  /** Files of all accounts together, in MiB. */
  readonly allFilesMiB: number
  /** Texts of one account and the webhooks that repeat them, in MiB. */
  readonly textMiB: number
  /** Per builder. Deleted agents don't count. */
  readonly agents: number
  /** Per task. */
  readonly deliverables: number
  /** Per task and agent. */
  readonly waitingEvents: number
  /** Per account, with responses of the usual size; fewer with larger ones. */
  readonly idempotencyKeys: number
}

/** The defaults are below. */
export type GivenKeeping = { readonly [Name in keyof Keeping]?: number | undefined }

export const defaultKeeping: Keeping = {
  deliveryDays: 30,
  notificationDays: 90,
  fileMiB: 1_024,
  allFilesMiB: 51_200,
  textMiB: 256,
  agents: 200,
  deliverables: 20,
  waitingEvents: 1_000,
  idempotencyKeys: 5_000,
}

const earningTransfers = 128

/** What part of a quota an account may use, by what it has proven and how full the whole is. Source: A-291. */
export const room = {
  /** The part that every account has. */
  unproven: 1 / 16,
  /** So many of its latest deposits and of the latest payments for its work are looked at. */
  transfers: earningTransfers,
  /** What earns the whole quota: that many of the smallest payments. */
  wholeAtCents: earningTransfers * limits.price.min,
  /** The part of what is left below a mark that one account may have. */
  part: 1 / 16,
  /** How full the whole may be for what everybody has, for what is earned, and for accounts with work open. */
  marks: { unproven: 0.6, earned: 0.8, openWork: 0.95 },
  /** How often the sum of all files, and the size of a Postgres database, are asked for. */
  lookMs: 10 * second,
} as const

/** Mails that are sent at once. One worker sends password resets only, because a user waits for them. */
export const mailsAtOnce = 4

/** How long a mail is claimed: longer than any server may take for it. Domain time, like its next attempt. */
export const mailLeaseMs = 3 * minute

/**
 * Connection tests that builders run at the same time. One builder may run no more than `part` of the free slots, and one
 * in any case: the fuller the slots are, the fewer each may run. Source.
 */
export const manualTests = {
  perBuilder: 3,
  overall: 128,
  part: 1 / 32,
  /** The longest that one test takes: its webhook, then its callback. */
  longestMs: durations.webhookTimeoutMs + durations.testCallbackMs,
} as const

const heartbeatHours = 4

/** The heartbeat, which tests agents. Source: I-heartbeat, A-43. */
export const heartbeat = {
  everyHours: heartbeatHours,
  everyMs: heartbeatHours * hour,
  runsPerDay: 24 / heartbeatHours,
  batch: 20,
  atOnce: 5,
  /** The lease for each round of `atOnce` tests: more than the 45 s of the slowest test. */
  leaseMs: minute,
  /** Missed runs start this long after the process, so that agents on the same machine have started too. */
  afterStartMs: 15 * second,
  /** How long a test waits for the callback while the simulator's clock is moved. Days of it are many tests. A-233 */
  hurriedCallbackMs: 2 * second,
  /** When a run is repeated for agents that could not be tested because of a fault of our own. */
  retryMs: [minute, 5 * minute, 15 * minute, 30 * minute, hour],
  /** How often a run is looked for that ended with its instance, or could not begin because the database was unreachable. */
  lookMs: minute,
} as const

/** Deposits by trust tier, in cents. Source: A-34. */
export const depositLimits = {
  trusted: { each: 1_000_000, perDay: 2_000_000 },
  new_verified: { each: 500_000, perDay: 1_000_000 },
  new_unverified: { each: 50_000, perDay: 100_000 },
  chargeback_risk: { each: 20_000, perDay: 50_000 },
  suspended: { each: 0, perDay: 0 },
  banned: { each: 0, perDay: 0 },
} as const

/** Rate limits: requests of one client address per window. */
export const rates = {
  general: { limit: 100, windowMs: minute },
  authentication: { limit: 5, windowMs: minute },
  registration: { limit: 3, windowMs: hour },
  password_reset: { limit: 3, windowMs: hour },
  webhooks: { limit: 50, windowMs: minute },
  file_upload: { limit: 20, windowMs: minute },
  search: { limit: 30, windowMs: minute },
  task_creation: { limit: 10, windowMs: hour },
  task_submission: { limit: 5, windowMs: hour },
} as const

/**
 * Attempts at passwords and codes. The first `free` are not delayed. Each later one doubles the wait, up to a cap. After
 * `forgottenMs` without an attempt, counting starts again. Source: A-193.
 */
export const guessing = {
  rules: {
    /** For one account, from one client address that it has signed in from. */
    pair: { free: 5, baseMs: 30 * second, capMs: 15 * minute, forgottenMs: hour },
    /** For one account, from one network that it has not signed in from. */
    network: { free: 5, baseMs: 30 * second, capMs: hour, forgottenMs: day },
    /** For one account, from all such networks that have had fewer than `newcomerTurns`. */
    newcomers: { free: 60, baseMs: second, capMs: 2 * minute, forgottenMs: hour },
    /** For one account, from all other such networks. */
    strangers: { free: 20, baseMs: second, capMs: 2 * minute, forgottenMs: hour },
    /** For one account, by whoever sends the right code of its second factor along. */
    holder: { free: 20, baseMs: second, capMs: minute, forgottenMs: hour },
    /** For the password of a signed-in account, by whoever has the session. */
    own: { free: 5, baseMs: 30 * second, capMs: 15 * minute, forgottenMs: hour },
    /** For the code of a second factor, by whoever knows the password. */
    code: { free: 10, baseMs: minute, capMs: hour, forgottenMs: hour },
  },
  /** How many attempts of a network at one account count among those of newcomers. */
  newcomerTurns: 3,
  /** The memory for the counters of one process: about 12,000 targets. */
  memoryBytes: 4 * 1024 * 1024,
  /** How many client addresses are remembered per account, and for how long. */
  known: { addresses: 20, ms: 90 * day },
} as const

export type RateCategory = keyof typeof rates
