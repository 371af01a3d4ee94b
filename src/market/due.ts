/** What is due by domain time: payments whose 48 hours of clearing are over. Source: D33. */
import { dueClearings } from '../store/transfers.ts'
import { clear } from './escrow.ts'
import type { Market } from './market.ts'

/** Does everything that is due now, each row in a transaction of its own. */
export async function runDue(market: Market): Promise<void> {
  const due = await market.db.read(q => dueClearings(q, market.world.now(), 100))
  for (const { taskId } of due) await market.db.write(tx => clear({ ...market, tx }, taskId))
  if (due.length === 100) await runDue(market)
}
