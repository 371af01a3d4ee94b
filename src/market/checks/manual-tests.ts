/** Bounds the connection tests that builders run at a time: each may take 45 seconds and a connection. */
import { type Refusal, refuse } from '../../api/failures.ts'
import { manualTests } from '../../api/limits.ts'
import type { Market } from '../market.ts'

interface Running {
  builderId: string
  /** Real ms. */
  since: number
}

/** In the order in which they began. */
class RunningTests extends Set<Running> {}

/** Runs the test, or refuses while too many run, of this builder or of all. Heartbeats are not counted. */
export async function withTestSlot<T>(
  { memory, world }: Pick<Market, 'memory' | 'world'>,
  builderId: string,
  test: () => Promise<T>,
): Promise<T> {
  const tests = memory.of(RunningTests)
  const now = world.realNow()
  const refusal = refusalFor(builderId, [...tests], now)
  if (refusal) throw refusal
  const own = { builderId, since: now }
  tests.add(own)
  try {
    return await test()
  } finally {
    tests.delete(own)
  }
}

/** Returns why the test may not run now, with the time after which a slot must be free; null if it may. */
function refusalFor(builderId: string, tests: readonly Running[], now: number): Refusal | null {
  const mine = tests.filter(one => one.builderId === builderId)
  const free = manualTests.overall - tests.length
  const most = Math.min(manualTests.perBuilder, Math.max(1, Math.floor(free * manualTests.part)))
  if (mine.length >= most) return later(mine, now, () => refuse('too_many_tests', mine.length))
  return free > 0 ? null : later(tests, now, seconds => refuse('no_test_free', seconds))
}

function later([first]: readonly Running[], now: number, make: (seconds: number) => Refusal): Refusal {
  const waitMs = Math.min(manualTests.longestMs, (first?.since ?? now) + manualTests.longestMs - now)
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const refusal = make(seconds)
  refusal.headers = { 'retry-after': String(seconds) }
  return refusal
}
