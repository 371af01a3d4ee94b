/** What is due: payments whose 48 hours of clearing are over, rows that nobody looks at any more. Source: D33, D38, D39. */
import { durations } from '../api/limits.ts'
import { forgetRequests, hasOldRequests } from '../store/idempotency-keys.ts'
import { forgetWindows, hasOldWindows } from '../store/rate-windows.ts'
import { forgetSignatures, hasOldSignatures } from '../store/seen-signatures.ts'
import { dueClearings } from '../store/transfers.ts'
import { clear } from './escrow.ts'
import type { Market } from './market.ts'

/** Does everything that is due now, each row in a transaction of its own. */
export async function runDue(market: Market): Promise<void> {
  await clearPayments(market)
  await forgetSeen(market)
  await forgetKeyed(market)
  await forgetCounted(market)
}

async function clearPayments(market: Market): Promise<void> {
  const due = await market.db.read(q => dueClearings(q, market.world.now(), 100))
  for (const { taskId } of due) await market.db.write(tx => clear({ ...market, tx }, taskId))
  if (due.length === 100) await clearPayments(market)
}

/** By real time, as signatures are judged by it. */
async function forgetSeen({ db, world }: Market): Promise<void> {
  const before = world.realNow() - durations.seenSignatureMs
  if (await db.read(q => hasOldSignatures(q, before))) await db.write(tx => forgetSignatures(tx, before))
}

async function forgetKeyed({ db, world }: Market): Promise<void> {
  const before = world.now() - durations.idempotency.keptMs
  if (await db.read(q => hasOldRequests(q, before))) await db.write(tx => forgetRequests(tx, before))
}

async function forgetCounted({ db, world }: Market): Promise<void> {
  const now = world.now()
  if (await db.read(q => hasOldWindows(q, now))) await db.write(tx => forgetWindows(tx, now))
}
