/**
 * Makes the n-th thing that is asked of a database fail: the beginning of a unit, each of its statements, its commit
 * (nothing of it is kept then), and its answer (all of it is). The database beneath is real and goes on.
 */
import type { Db, Reader, Tx } from '../../src/store/db.ts'

export interface DbFaults {
  /** The methods as they were, for what a test itself asks. */
  readonly plain: Pick<Db, 'read' | 'write'>
  /** From now on the `nth` thing fails, once. */
  arm(nth: number, error: Error): void
  disarm(): void
  /** What failed since it was armed. */
  readonly tripped: string | null
}

const units = ['read', 'readCommitted', 'write', 'migrate'] as const
const statements = new Set<PropertyKey>(['get', 'all', 'run', 'runAll', 'lock'])

export function faultsOf(db: Db): DbFaults {
  const plain = { read: db.read.bind(db), write: db.write.bind(db) }
  let left = 0
  let error = new Error()
  let tripped: string | null = null

  const pass = (what: string) => {
    if (left === 0 || --left > 0) return
    tripped = what
    throw error
  }
  const watched = <Unit extends Reader | Tx>(unit: Unit, name: string): Unit =>
    new Proxy(unit, {
      get(real, property) {
        const found = Reflect.get(real, property, real)
        if (typeof found !== 'function') return found
        if (!statements.has(property)) return found.bind(real)
        return async (...given: unknown[]) => {
          const sql = Array.isArray(given[0]) ? given[0].map(step => step.sql).join('; ') : given[0]
          pass(`${name}: ${String(property)} ${String(sql).slice(0, 60)}`)
          return found.apply(real, given)
        }
      },
    })
  for (const name of units) {
    const real = db[name].bind(db) as (work: (unit: Tx) => Promise<unknown>) => Promise<unknown>
    const faulty = async (work: (unit: Tx) => Promise<unknown>) => {
      pass(`${name}: begin`)
      const result = await real(async unit => {
        const made = await work(watched(unit, name))
        pass(`${name}: commit`)
        return made
      })
      pass(`${name}: answer`)
      return result
    }
    Object.assign(db, { [name]: faulty })
  }
  return {
    plain,
    arm(nth, given) {
      left = nth
      error = given
      tripped = null
    },
    disarm() {
      left = 0
    },
    get tripped() {
      return tripped
    },
  }
}
