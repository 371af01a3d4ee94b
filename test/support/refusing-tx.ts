/** A transaction in which some statements are refused, as by a database that can't write what it is given. */
import type { Step, Tx, Value } from '../../src/store/db.ts'

export const refusingTx = (tx: Tx, isRefused: (sql: string, values: readonly Value[]) => boolean): Tx =>
  new Proxy(tx, {
    get(real, name) {
      const found = Reflect.get(real, name, real)
      if (typeof found !== 'function') return found
      if (name !== 'run' && name !== 'runAll') return found.bind(real)
      return (asked: string | readonly Step[], values: readonly Value[] = []) => {
        const steps = typeof asked === 'string' ? [{ sql: asked, values }] : asked
        if (steps.some(step => isRefused(step.sql, step.values)))
          return Promise.reject(new Error('This can’t be written.'))
        return typeof asked === 'string' ? real.run(asked, [...values]) : real.runAll(asked)
      }
    },
  })
