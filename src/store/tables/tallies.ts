/**
 * Counts of rows, kept up to date by every write. The tables that they count only grow, so counting their rows would take
 * longer and longer.
 */
import type { Reader, Step, Tx } from '../db.ts'
import { bigint, integer, table, text } from './table.ts'

/** What is counted: agents that are not deleted, tasks in open dispute, payments of a kind in a status. */
export type Tallied =
  | 'users'
  | 'agents'
  | 'tasks'
  | 'disputed tasks'
  | `${'deposit' | 'withdrawal'} ${'pending' | 'completed' | 'rejected'}`

// Each count is the sum of several rows. With a single row all writers would wait for each other.
const SLOTS = 16

export const tallies = table('tallies', { name: text<Tallied>(), slot: integer(), count: bigint() })

const counted = tallies.insertValues(
  [{ name: '$1', slot: '$2', count: '$3' }],
  'ON CONFLICT (name, slot) DO UPDATE SET count = tallies.count + excluded.count',
)

/** Adds the row with this id to a count (1), or subtracts it (-1). */
export const tallyStep = (name: Tallied, id: string, by: 1 | -1): Step => ({
  sql: counted,
  values: [name, id.charCodeAt(id.length - 1) % SLOTS, by],
})

export const tally = (tx: Tx, name: Tallied, id: string, by: 1 | -1) => tx.runAll([tallyStep(name, id, by)])

/** The sum of these counts. */
export const tallied = async (q: Reader, names: readonly Tallied[]) =>
  (await q.get<{ count: number }>(
    `SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) AS count FROM tallies
     WHERE name IN (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
    names,
  ))!.count
