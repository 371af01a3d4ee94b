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
  },
  /** Categories of a budget authorization. Source: A-177. */
  budgetCategories: [1, 100],
  /** */
  category: { name: [2, 100], slug: 60, description: [1, 500] },
  /** */
  sample: { title: [2, 200], input: [0, 5_000], output: [1, 50_000] },
  /** Different words of one search, and words that one agent is found by. */
  search: { query: [0, 200], words: 16, wordsPerAgent: 500 },
  key: { perAccount: 10, name: [1, 100] },
  deliverable: { content: [1, 50_000], notes: [0, 2_000], files: 5, fileBytes: 10 * 1024 * 1024 },
  /** Code points of a file's name. A-22 */
  fileName: 255,
  /** */
  message: [1, 5_000],
  /** */
  review: { rating: [1, 5], comment: [0, 2_000] },
  /** */
  reason: { revision: [1, 2_000], dispute: [10, 2_000], reject: [0, 2_000], review: [1, 2_000] },
  /** */
  account: {
    password: [10, 128],
    name: [2, 100],
    email: 254,
    /** Mails with a reset token to one account in the hour for which a token is valid. Source: A-192. */
    resetMails: 3,
    /** Mails of one kind about security changes to one account in an hour. Source: A-192. */
    noticeMails: 10,
  },
  /** Sessions of one account; the one that was seen longest ago gives way. Source: A-195. */
  session: { perAccount: 50, userAgent: 200 },
  /** `typed`: characters of a code as people type it. */
  secondFactor: { recoveryCodes: 10, typed: 100 },
  /** Bytes of a row with its answer, of which an account has as many as its quota says. A-39 */
  idempotency: { usualBytes: 4 * 1024 },
  /** `reach`: how many entries of a list can be turned to, and are counted. A-222 */
  page: { default: 20, max: 100, reach: 10_000 },
  /** */
  url: 2_048,
  /** */
  jsonBytes: 1024 * 1024,
  /** no JSON that the interface knows is deeper than a handful. */
  jsonDepth: 32,
  /** Commas of a body: none that the interface knows has a hundred. Source: A-177. */
  jsonCommas: 10_000,
  /** Length of the part of a key that stays readable. A-11 */
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
  /** As long the answer to a move of the simulator's clock waits for what fell due by it. */
  clockMoveMs: 5 * second,
  signatureToleranceMs: 5 * minute,
  /** By how much the clocks of instances may differ: further apart, agents would refuse the signatures of one. */
  clockToleranceMs: 5 * minute,
  /** */
  seenSignatureMs: 10 * minute,
  /** */
  trustedAfterMs: 30 * day,
  /** */
  session: { absoluteMs: 30 * day, idleMs: 7 * day, touchMs: minute },
  /** */
  keyTouchMs: minute,
  /** A-39; how long a request may run is real time. */
  idempotency: { keptMs: 24 * hour, runningMs: 2 * minute },
  /** */
  passwordResetMs: hour,
  /** What is left of a webhook when its body is gone: that it was, and how it ended. */
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

/** The simulator's clock goes no further: a later year would have five digits soon, and for good. A-44 */
export const lastClockMs = Date.UTC(9000, 0, 1)

/** Waits between the attempts of one webhook, ±20 %. Source: A-37. */
export const retryScheduleMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour] as const
export const retryJitter = 0.2
export const retryAfterMaxMs = 10 * hour

/** Bytes of an agent's answer that are read, and those that the log keeps. Source. */
export const answerBytes = 20_000
export const keptAnswerBytes = 2_048

/** What an operator may set. Source: A-49. */
export interface Keeping {
  /** How long the log of webhooks keeps what was sent and answered, after the end of each. */
  readonly deliveryDays: number
  readonly notificationDays: number
  /** MiB of files that all deliverables of one account hold. */
  readonly fileMiB: number
  /** MiB that one account has written, and of the webhooks that hold it. */
  readonly textMiB: number
  /** Of one builder; deleted ones don't count. */
  readonly agents: number
  /** Of one task. */
  readonly deliverables: number
  /** Of one task and one agent. */
  readonly waitingEvents: number
  /** Of one account, with answers of a usual size; fewer with larger ones. */
  readonly idempotencyKeys: number
}

/** What is not given is as below. */
export type GivenKeeping = { readonly [Name in keyof Keeping]?: number | undefined }

export const defaultKeeping: Keeping = {
  deliveryDays: 30,
  notificationDays: 90,
  fileMiB: 1_024,
  textMiB: 256,
  agents: 200,
  deliverables: 20,
  waitingEvents: 1_000,
  idempotencyKeys: 5_000,
}

/** What may be in flight at once. Source: A-37. */
export const dispatch = {
  perHost: 2,
  overall: 64,
  /** How many of these one account or one domain may use while others wait. */
  share: 16,
  /** The same if nobody else waits, for hosts known to be quick. */
  shareAlone: 48,
  /**
   * After this long without a response, a webhook moves from a quick slot to a slow one. It costs a socket but no work, so
   * others need not wait for it.
   */
  slowAfterMs: 250,
  slow: 512,
  /** How many slow slots one account or one domain may use. */
  slowShare: 16,
  /**
   * One account or one domain may have no more webhooks in flight, quick or slow, than this part of the slow slots that are
   * free: each of them may turn out to be slow. The fuller the slow slots are, the fewer each may have.
   */
  slowPart: 1 / 32,
  /** The same for hosts that were quick the last time, which hardly ever need a slow slot. */
  slowPartOfQuick: 1 / 8,
  /** A host that took longer than this the last time gets a slow slot at once. */
  knownSlowMs: 2 * second,
  /** How long the last duration of a host is remembered. */
  knownForMs: 10 * minute,
  /** While more units than this wait for the database, webhooks yield to them. */
  crowd: 8,
  /** How many webhooks are in flight then. */
  besideCrowd: 2,
  /** How long webhooks yield at most. */
  patienceMs: 2 * second,
  /** The crowd is over when none was seen for this long. */
  calmMs: 100,
  leaseMs: minute,
  /** When an outcome that the database refused is written again. The last pause repeats. */
  noteAgainMs: [second, 5 * second, 15 * second, minute],
  /** With this many refused outcomes, no more webhooks are sent. */
  mostRefused: 256,
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

/** Tests of the agents. Source: I-heartbeat, A-43. */
export const heartbeat = {
  everyHours: heartbeatHours,
  everyMs: heartbeatHours * hour,
  runsPerDay: 24 / heartbeatHours,
  batch: 20,
  atOnce: 5,
  /** For each round of `atOnce`: more than the 45 s of the slowest test. */
  leaseMs: minute,
  /** Runs that were missed while the process was down wait until it, and the agents beside it, have started. */
  afterStartMs: 15 * second,
  /** After so long a run is done again for those who could not be tested for a reason of our own. */
  retryMs: [minute, 5 * minute, 15 * minute, 30 * minute, hour],
  /** So soon a run is taken up again that ended with its instance, or could not begin as the database was away. */
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

/** Requests per window of one address. */
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
 * Guesses at passwords and codes. The first `free` are not slowed; each later one doubles the wait, up to a cap. Source:
 *
 */
export const guessing = {
  rules: {
    /** At one account, from one address. */
    pair: { free: 5, baseMs: 30 * second, capMs: 15 * minute },
    /** At one account, from all addresses that it has not signed in from. */
    account: { free: 20, baseMs: second, capMs: minute },
    /** At the password of an account that is signed in: by whoever holds the session. */
    own: { free: 5, baseMs: 30 * second, capMs: 15 * minute },
    /** At the code of a second factor, by whoever knows the password. */
    code: { free: 10, baseMs: minute, capMs: hour },
  },
  /** Without a guess for so long, counting begins anew. */
  forgottenAfterMs: hour,
  /** Where one process counts: about 12,000 targets. */
  memoryBytes: 4 * 1024 * 1024,
  /** Addresses an account is known to sign in from, and for how long. */
  known: { addresses: 20, ms: 90 * day },
} as const

export type RateCategory = keyof typeof rates
