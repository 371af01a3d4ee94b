/** A database whose units somebody goes along with: to measure them, to trace them, to tell of them. */
import { type Db, type Reader, StoreError, type Tx, type UnitKind, type UnitReport } from './db.ts'

type Work<T> = (tx: Tx) => Promise<T>

/** `run` does the unit, with `work` or with something around it. The work of a read gets a reader alone. */
export type Around = <T>(unit: UnitKind, work: Work<T>, run: (work: Work<T>) => Promise<T>) => Promise<T>

export function aroundUnits(db: Db, around: Around): Db {
  const ofReads = <T>(run: (work: (q: Reader) => Promise<T>) => Promise<T>) => run as (work: Work<T>) => Promise<T>
  return {
    read: (work, flow) =>
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
    write: (work, flow) => around('write', work, work => db.write(work, flow)),
    migrate: work => around('migrate', work, work => db.migrate(work)),
    ready: () => db.ready(),
    close: () => db.close(),
    figures: () => db.figures(),
    get shared() {
      return db.shared
    },
    get waiting() {
      return db.waiting
    },
    get fill() {
      return db.fill
    },
    get isFull() {
      return db.isFull
    },
  }
}

export const measuredDb = (db: Db, report: (report: UnitReport) => void): Db =>
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
