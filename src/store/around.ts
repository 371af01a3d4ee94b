/** A database whose units somebody goes along with: to measure them, to trace them, to tell of them. */
import { type Db, type Reader, StoreError, type Tx, type UnitKind, type UnitReport } from './db.ts'

type Work<T> = (tx: Tx) => Promise<T>

/** `run` does the unit, with `work` or with something around it. The work of a read gets a reader alone. */
export type Around = <T>(unit: UnitKind, work: Work<T>, run: (work: Work<T>) => Promise<T>) => Promise<T>

/** All else of the database is its own. `flowOf`: whose units they are, where the caller does not say it. */
export function aroundUnits<D extends Db>(db: D, around: Around, flowOf = (): string | undefined => undefined): D {
  const ofReads = <T>(run: (work: (q: Reader) => Promise<T>) => Promise<T>) => run as (work: Work<T>) => Promise<T>
  const units: Pick<Db, UnitKind> = {
    read: (work, flow = flowOf()) =>
      around(
        'read',
        work,
        ofReads(work => db.read(work, flow)),
      ),
    readCommitted: work =>
      around(
        'readCommitted',
        work,
        ofReads(work => db.readCommitted(work)),
      ),
    write: (work, flow = flowOf()) => around('write', work, work => db.write(work, flow)),
    migrate: work => around('migrate', work, work => db.migrate(work)),
  }
  return new Proxy(db, {
    // What is put in the place of one of them stands around it.
    set: (_, name, value) => Reflect.set(units, name, value),
    get(_, name) {
      const own: unknown = units[name as UnitKind] ?? Reflect.get(db, name, db)
      return typeof own === 'function' && !(name in units) ? own.bind(db) : own
    },
  })
}

export const measuredDb = <D extends Db>(db: D, report: (report: UnitReport) => void): D =>
  aroundUnits(db, async (unit, work, run) => {
    const asked = performance.now()
    let begun = 0
    let worked = 0
    let runs = 0
    let fault: string | null = null
    try {
      return await run(async tx => {
        if (runs++ === 0) begun = performance.now()
        worked = 0
        const value = await work(tx)
        worked = performance.now()
        return value
      })
    } catch (error) {
      if (error instanceof StoreError) fault = error.constructor.name
      throw error
    } finally {
      const now = performance.now()
      report({ unit, waitMs: (begun || now) - asked, commitMs: worked === 0 ? null : now - worked, runs, fault })
    }
  })
