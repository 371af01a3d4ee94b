/** Native SQLite, in this process's stead: the recorded statements, one transaction each, every commit synced. */
import { type NativeDatabase, type NativeStatement, openNative, peerVersion } from './peers.ts'
import type { Step } from './record.ts'
import { answer } from './worker.ts'

interface Bound {
  statement: NativeStatement
  values: readonly unknown[]
  reads: boolean
}

answer({
  /** Runs each list of steps as one transaction; answers how many a second, and under which settings. */
  run({ file, transactions }: { file: string; transactions: Step[][] }) {
    const db = openNative(file)
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('foreign_keys = ON')
    db.pragma('cache_size = -32768')
    const settings = ['journal_mode', 'synchronous', 'foreign_keys', 'cache_size', 'wal_autocheckpoint']
      .map(name => `${name}=${db.pragma(name, { simple: true })}`)
      .join(' ')
    const bound = bind(db, transactions)
    const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')]
    const started = performance.now()
    for (const steps of bound) {
      begin.run()
      for (const { statement, values, reads } of steps) {
        if (reads) statement.all(...values)
        else if (statement.run(...values).changes === 0) throw new Error('A statement changed nothing')
      }
      commit.run()
    }
    const rate = transactions.length / ((performance.now() - started) / 1000)
    db.close()
    return { rate, settings: `better-sqlite3 ${peerVersion('better-sqlite3')}, ${settings}` }
  },
})

/** Every text prepared once, `$n` as `?` in the order in which they stand: what costs better-sqlite3 least. */
function bind(db: NativeDatabase, transactions: Step[][]): Bound[][] {
  const prepared = new Map<string, NativeStatement>()
  const statementOf = (sql: string) => {
    const found = prepared.get(sql) ?? db.prepare(sql.replace(/\$\d+/g, '?'))
    prepared.set(sql, found)
    return found
  }
  return transactions.map(steps =>
    steps.map(({ sql, values, reads }) => ({
      statement: statementOf(sql),
      values: [...sql.matchAll(/\$(\d+)/g)].map(([, n]) => values[Number(n) - 1]),
      reads,
    })),
  )
}
