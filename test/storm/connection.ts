/**
 * A database that several instances share, and the connection of one of them: it has the embedded engine's SQL behind it,
 * where units run one after another. On the way there and back time passes, and a connection can be lost: before the unit ran,
 * or with the answer to its commit.
 */
import { type Db, type Reader, StoreError, type Tx } from '../../src/store/db.ts'

export interface Way {
  /** Time on the wire. */
  pace(): Promise<void>
  /** What happens to this unit. */
  fate(): 'arrives' | 'is lost' | 'loses its answer'
  /** Whether the instance still lives. */
  isDead(): boolean
}

const lost = () => new StoreError('The connection to the database has ended. Check that the server runs.')

export function connected(shared: Db, { pace, fate, isDead }: Way): Db {
  async function unit<T>(run: (effects: (() => void)[]) => Promise<T>): Promise<T> {
    await pace()
    const what = fate()
    if (isDead() || what === 'is lost') throw lost()
    const effects: (() => void)[] = []
    const value = await run(effects)
    await pace()
    if (isDead() || what === 'loses its answer') throw lost()
    for (const effect of effects) effect()
    return value
  }

  const write = <T>(work: (tx: Tx) => Promise<T>) =>
    unit(effects =>
      shared.write(async tx => {
        const value = await work(seenBy(tx, effects))
        // One that dies before its COMMIT leaves nothing.
        if (isDead()) throw lost()
        return value
      }),
    )
  const read = <T>(work: (q: Reader) => Promise<T>) => unit(() => shared.read(q => work(seenBy(q as Tx, []))))

  return {
    shared: true,
    waiting: 0,
    fill: null,
    isFull: false,
    figures: () => ({}),
    read,
    readCommitted: read,
    write,
    migrate: write,
    ready: async () => !isDead(),
    close: async () => {},
  }
}

/** As Postgres is seen: nobody tells which rows others have changed. */
const seenBy = (tx: Tx, effects: (() => void)[]): Tx => ({
  get: (sql, values) => tx.get(sql, values),
  all: (sql, values) => tx.all(sql, values),
  run: (sql, values) => tx.run(sql, values),
  runAll: steps => tx.runAll(steps),
  lock: (table, ...ids) => tx.lock(table, ...ids),
  changes: null,
  afterCommit: effect => void effects.push(effect),
})
