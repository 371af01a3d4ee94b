/** A transaction in which some statements change nothing, as if somebody else had been first. */
import type { Tx } from '../../src/store/db.ts'
import { plainTx } from './plain-tx.ts'

export const losingTx = (tx: Tx, isLost: RegExp): Tx => ({
  ...plainTx(tx),
  run: async (sql, values) => (isLost.test(sql) ? 0 : tx.run(sql, values)),
  runAll: async steps => {
    const kept = steps.filter(({ sql }) => !isLost.test(sql))
    const changed = await tx.runAll(kept)
    return steps.map(step => kept.includes(step) && changed[kept.indexOf(step)]!)
  },
})
