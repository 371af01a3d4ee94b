/** A database whose statements are counted, to see what is remembered and not asked again. */
import type { Db, Reader, Value } from '../../src/store/db.ts'

export interface Asked {
  sql: string
  values: readonly Value[]
}

const COUNTED = /^(?:get|all|run|lock)$/

/** From now on; `stop` gives back the database as it was. */
export function countStatements(db: Db) {
  const asked: Asked[] = []
  const counted = <Q extends Reader>(real: Q): Q =>
    new Proxy(real, {
      get(_, name) {
        const found = Reflect.get(real, name, real)
        if (typeof found !== 'function') return found
        if (!COUNTED.test(String(name))) return found.bind(real)
        return (sql: string, ...rest: unknown[]) => {
          const [values = []] = rest as [values?: readonly Value[]]
          asked.push(name === 'lock' ? { sql: `lock ${sql}`, values: [] } : { sql, values })
          return found.call(real, sql, ...rest)
        }
      },
    })
  const names = ['read', 'write', 'readCommitted'] as const
  const before = names.map(name => db[name].bind(db))
  for (const [at, name] of names.entries()) {
    const real = before[at]! as (work: (q: Reader) => Promise<unknown>) => Promise<unknown>
    Object.assign(db, { [name]: (work: (q: Reader) => Promise<unknown>) => real(q => work(counted(q))) })
  }
  return {
    /** Of those since the last call that match. */
    count(pattern: RegExp): number {
      return asked.splice(0).filter(({ sql }) => pattern.test(sql)).length
    },
    /** All since the last call. */
    texts: () => asked.splice(0).map(({ sql }) => sql),
    all: () => asked.splice(0),
    stop() {
      for (const [at, name] of names.entries()) Object.assign(db, { [name]: before[at] })
    },
  }
}
