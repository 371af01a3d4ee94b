/**
 * When a clock that was ahead is set right, rows are left that wait for times in the far future: webhooks, leases, passed
 * tests. They are corrected at the start and whenever the clock goes back. Source: A-183.
 */

import { dispatch } from '../../api/dispatch.ts'
import { durations, heartbeat, retryAfterMaxMs } from '../../api/limits.ts'
import { mendMoments } from '../../store/tables/upkeep/set-back-clock.ts'
import type { Market } from '../market.ts'

class LastLook {
  /** Real ms. */
  at: number | undefined
}

/** Corrects such rows if the clock went back since the last call. Call it at the start and every second. */
export async function watchClock(market: Market): Promise<void> {
  const realNow = market.world.realNow()
  const look = market.memory.of(LastLook)
  const last = look.at
  look.at = realNow
  if (last === undefined || realNow < last - durations.clockToleranceMs) await mendAfterSetBack(market)
}

async function mendAfterSetBack({ db, world, config, log }: Market): Promise<void> {
  const changed = await db.write(tx =>
    mendMoments(tx, {
      now: world.now(),
      realNow: world.realNow(),
      toleranceMs: durations.clockToleranceMs,
      longest: {
        deliveryLeaseMs: dispatch.leaseMs,
        retryMs: 2 * retryAfterMaxMs,
        jobMs: heartbeat.everyMs,
        jobLeaseMs: Math.ceil(config.heartbeatBatch / heartbeat.atOnce) * heartbeat.leaseMs,
        requestMs: durations.idempotency.runningMs,
      },
    }),
  )
  if (changed === 0) return
  const message = `The clock was set back: ${changed} rows that waited for times far ahead are due now`
  log({ type: 'warning', message })
}
