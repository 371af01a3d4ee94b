/** Does what is due by the clock: clears payments after 48 hours, deletes old rows. Source. */
import { StoreError } from '../../store/db.ts'
import { type DueClearing, dueClearings } from '../../store/tables/money/transfers.ts'
import type { Market } from '../market.ts'
import { clear } from '../money/escrow.ts'
import { removeOld } from './retention.ts'
import { watchClock } from './set-back-clock.ts'

/** Does everything that is due now. A failure does not stop the rest; the first one is thrown at the end. */
export async function runDue(market: Market): Promise<void> {
  const failures: unknown[] = []
  for (const work of [watchClock, clearPayments, removeOld]) await work(market).catch(error => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

const AT_ONCE = 100
/** A payment that could not be cleared is tried again after this long, in real time. */
const AGAIN_MS = 60_000
/** Bounds the memory for failed payments. Beyond it, a payment that fails is tried each time. */
const MOST_POSTPONED = 10_000

/** By task: when a failed payment is tried again, in real ms. */
class Postponed extends Map<string, number> {}

async function clearPayments(market: Market): Promise<void> {
  const { db, world, memory } = market
  const postponed = memory.of(Postponed)
  for (const [taskId, at] of postponed) if (at <= world.realNow()) postponed.delete(taskId)
  let after: DueClearing | null = null
  for (;;) {
    const due: DueClearing[] = await db.read(q => dueClearings(q, world.now(), after, AT_ONCE))
    for (const { taskId } of due) if (!postponed.has(taskId)) await clearOne(market, taskId, postponed)
    if (due.length < AT_ONCE) return
    after = due.at(-1)!
  }
}

async function clearOne(market: Market, taskId: string, postponed: Map<string, number>): Promise<void> {
  try {
    await market.db.write(tx => clear({ ...market, tx }, taskId))
  } catch (error) {
    // The database is unreachable, so every other payment would fail too.
    if (error instanceof StoreError) throw error
    if (postponed.size < MOST_POSTPONED) postponed.set(taskId, market.world.realNow() + AGAIN_MS)
    const message = `The payment of ${taskId} could not be cleared, and will be tried again: ${(error as Error).message}`
    market.log({ type: 'error', message })
  }
}
