/** A transaction in which some statements are refused, as by a database that can't write what it is given. */
import type { Tx, Value } from '../../src/store/db.ts'

export const refusingTx = (tx: Tx, isRefused: (sql: string, values: readonly Value[]) => boolean): Tx =>
  new Proxy(tx, {
    get(real, name) {
      const found = Reflect.get(real, name, real)
      if (typeof found !== 'function') return found
      if (name !== 'run') return found.bind(real)
      return (sql: string, values: readonly Value[] = []) =>
        isRefused(sql, values) ? Promise.reject(new Error('This can’t be written.')) : real.run(sql, [...values])
    },
  })
