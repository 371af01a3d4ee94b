/** Every length, count, price and duration of the interface. Source: section 8 unless a line names a decision. */

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

export const limits = {
  /** Any price field, in cents; the upper end is D17. */
  price: { min: 200, max: 1_000_000_000_000 },
  task: { title: [5, 200], description: [20, 10_000], requirements: [0, 5_000] },
  agent: {
    name: [2, 100],
    tagline: [10, 200],
    description: [50, 5_000],
    categories: [1, 4],
    tags: 10,
    /** D17 */
    tag: [1, 50],
    turnaroundHours: [1, 720],
    turnaroundHoursDefault: 24,
    maxRevisions: [0, 10],
    /** D18 */
    slug: 60,
    samples: 10,
  },
  /** D13 */
  category: { name: [2, 100], slug: 60, description: [1, 500] },
  /** D23 */
  sample: { title: [2, 200], input: [0, 5_000], output: [1, 50_000] },
  key: { perAccount: 10, name: [1, 100] },
  deliverable: { content: [1, 50_000], notes: [0, 2_000], files: 5, fileBytes: 10 * 1024 * 1024 },
  /** Code points of a file's name. D22 */
  fileName: 255,
  /** D20 */
  message: [1, 5_000],
  /** D20 */
  review: { rating: [1, 5], comment: [0, 2_000] },
  /** D20 */
  reason: { revision: [1, 2_000], dispute: [10, 2_000], reject: [0, 2_000], review: [1, 2_000] },
  /** D9 */
  account: { password: [10, 128], name: [2, 100], email: 254 },
  page: { default: 20, max: 100 },
  /** D17 */
  url: 2_048,
  /** D17 */
  jsonBytes: 1024 * 1024,
  /** D17: no JSON that the interface knows is deeper than a handful. */
  jsonDepth: 32,
  /** Length of the part of a key that stays readable. D11 */
  keyPrefix: 12,
} as const

export const durations = {
  disputeWindowMs: 48 * hour,
  /** D33 */
  clearingMs: 48 * hour,
  freshMs: 24 * hour,
  amberMs: 20 * hour,
  webhookTimeoutMs: 30 * second,
  testCallbackMs: 15 * second,
  signatureToleranceMs: 5 * minute,
  /** D38 */
  seenSignatureMs: 10 * minute,
  /** D12 */
  trustedAfterMs: 30 * day,
  /** D10 */
  session: { absoluteMs: 30 * day, idleMs: 7 * day, touchMs: minute },
  /** D11 */
  keyTouchMs: minute,
  /** D39; how long a request may run is real time. */
  idempotency: { keptMs: 24 * hour, runningMs: 2 * minute },
  /** D9 */
  passwordResetMs: hour,
  /** D25 */
  secretGraceMaxHours: 24,
  hourMs: hour,
  dayMs: day,
} as const

/** Waits between the attempts of one webhook, ±20 %. Source: D37. */
export const retryScheduleMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour] as const
export const retryJitter = 0.2
export const retryAfterMaxMs = 10 * hour

/** Bytes of an agent's answer that are read. Source: D42. */
export const answerBytes = 20_000

/** What may be in flight at once. Source: D37. */
export const dispatch = {
  perHost: 2,
  overall: 64,
  /** While more units than this wait for the database, so many webhooks are sent beside them, for so long; then all again. */
  crowd: 8,
  besideCrowd: 2,
  patienceMs: 2 * second,
  /** A crowd that was not seen for so long is over. */
  calmMs: 100,
  leaseMs: minute,
} as const

/** Tests of the agents. Source: section 6, D43. */
export const heartbeat = {
  everyHours: 4,
  everyMs: 4 * hour,
  runsPerDay: 6,
  batch: 20,
  atOnce: 5,
  /** For each round of `atOnce`: more than the 45 s of the slowest test. */
  leaseMs: minute,
  /** Runs that were missed while the process was down wait until it, and the agents beside it, have started. */
  afterStartMs: 15 * second,
  /** So soon a run is taken up again that ended with its instance, or could not begin as the database was away. */
  lookMs: minute,
} as const

/** Deposits by trust tier, in cents. Source: D34. */
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

export type RateCategory = keyof typeof rates
