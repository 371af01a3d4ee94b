/** Statements as they are run, so that another engine can run the very same ones on the same rows. */
import type { Tx, Value } from '../../src/store/db.ts'

export interface Step {
  sql: string
  values: readonly Value[]
  reads: boolean
}

/** The same transaction, with what it runs written down. */
export function recording(tx: Tx, log: Step[]): Tx {
  const note = (sql: string, values: readonly Value[] | undefined, reads: boolean) =>
    log.push({ sql, values: values ?? [], reads })
  return {
    changes: null,
    get(sql, values) {
      note(sql, values, true)
      return tx.get(sql, values)
    },
    all(sql, values) {
      note(sql, values, true)
      return tx.all(sql, values)
    },
    run(sql, values) {
      note(sql, values, false)
      return tx.run(sql, values)
    },
    runAll(steps) {
      for (const { sql, values } of steps) note(sql, values, false)
      return tx.runAll(steps)
    },
    lock: (table, ...ids) => tx.lock(table, ...ids),
    afterCommit: () => {},
  }
}
