/** Connection tests that builders ask for: each may take 45 seconds and a connection, so they are few at a time. */
import { refuse } from '../api/failures.ts'
import { manualTests } from '../api/limits.ts'
import type { Db } from '../store/db.ts'

// One process may hold several marketplaces: each has its own.
const running = new WeakMap<Db, Map<string, number>>()

/** Refuses while too many run, of this builder or of all. Heartbeats have places of their own. */
export async function oneOfFew<T>(db: Db, builderId: string, test: () => Promise<T>): Promise<T> {
  const counts = running.get(db) ?? new Map<string, number>()
  running.set(db, counts)
  const mine = counts.get(builderId) ?? 0
  if (mine >= manualTests.perBuilder) throw refuse('too_many_tests', manualTests.perBuilder)
  let all = 0
  for (const count of counts.values()) all += count
  if (all >= manualTests.overall) throw refuse('overloaded')
  counts.set(builderId, mine + 1)
  try {
    return await test()
  } finally {
    const left = counts.get(builderId)! - 1
    if (left > 0) counts.set(builderId, left)
    else counts.delete(builderId)
  }
}
