/** Bounds for webhooks in flight. Source: A-37. */

const second = 1000
const minute = 60 * second

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
  /** How often an instance that shares its database shows that it runs. A-331 */
  beatMs: second / 2,
  /** Who has not been seen to run for so long is taken for gone. */
  silentMs: 2.5 * second,
  /** Who has not shown for so long that it runs sends nothing: less than what others wait. */
  heardMs: 2 * second,
  /** When an outcome that the database refused is written again. The last pause repeats. */
  noteAgainMs: [second, 5 * second, 15 * second, minute],
  /** With this many refused outcomes, no more webhooks are sent. */
  mostRefused: 256,
} as const
