/**
 * Mutants that no test can notice, each with the reason. They stay in the sample and in the report; the score is told with
 * and without them. `change` is a part of what the report says of it.
 */
export interface Equivalent {
  readonly file: string
  readonly change: string
  readonly reason: string
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/store/copy.ts',
    change: '4_000 → ',
    reason: 'How many values go into one statement: every number below the limits of the engines copies the same rows.',
  },
  {
    file: 'src/store/embedded/backup.ts',
    change: '20 → (20',
    reason:
      'How often a copy of a database in use is tried: one try more or less is as good, and no two looks can be timed so.',
  },
  {
    file: 'src/store/embedded/backup.ts',
    change: '50 → (50',
    reason: 'The pause between two tries, in ms: no test can tell one more or less.',
  },
  {
    file: 'src/store/tables/webhooks/outbox.ts',
    change: "'ASC' → ''",
    reason: 'An order without a word is ascending.',
  },
  {
    file: 'src/store/embedded/statements.ts',
    change: 'KINDS.findLast',
    reason: 'No two of the kinds begin alike, so the first that fits is the last.',
  },
  {
    file: 'src/store/embedded/changes.ts',
    change: 'log.rows.unshift(',
    reason: 'The rows are answered as a set of those behind a version: their order is looked at by nobody.',
  },
  {
    file: 'src/market/checks/test-callback.ts',
    change: '200 → (200',
    reason: 'A signature kept for a test says only that it was used: what is answered to it again is made anew.',
  },
  {
    file: 'src/market/tasks/task-record.ts',
    change: '!disputeStatus && disputeReason',
    reason: 'The columns of a dispute are there together or not at all: the terms behind these tell it as well.',
  },
  {
    file: 'src/market/accounts/totp.ts',
    change: '→ /^\\d{6}/',
    reason: 'The library refuses what is longer than six digits as well.',
  },
]
