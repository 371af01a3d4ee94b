/** A transaction that can't tell what changed: whoever reads through it asks the tables, not what is remembered. */
import type { Tx } from '../../src/store/db.ts'

export const plainTx = (tx: Tx): Tx => ({
  changes: null,
  get: (sql, values) => tx.get(sql, values),
  all: (sql, values) => tx.all(sql, values),
  run: (sql, values) => tx.run(sql, values),
  runAll: steps => tx.runAll(steps),
  lock: (table, ...ids) => tx.lock(table, ...ids),
  afterCommit: effect => tx.afterCommit(effect),
})
