/** Finds times that a clock which was ahead has written. They lie in the future, so work would wait for them. */
import type { Tx, Value } from '../../db.ts'

export interface Moments {
  /** Domain time and real time. */
  now: number
  realNow: number
  /** The clocks of instances may differ by this much. A time that is less far ahead is right. */
  toleranceMs: number
  /** How far in the future each of these times may lie when it is written. */
  longest: { deliveryLeaseMs: number; retryMs: number; jobMs: number; jobLeaseMs: number; requestMs: number }
}

const LISTED = `status IN ('verified', 'active') AND deleted_at IS NULL`

/** Corrects times that lie so far ahead that only such a clock can have written them. Returns how many rows it changed. */
export async function mendMoments(tx: Tx, { now, realNow, toleranceMs, longest }: Moments): Promise<number> {
  const [ahead, reallyAhead] = [now + toleranceMs, realNow + toleranceMs]
  const steps: [sql: string, ...values: Value[]][] = [
    [
      `UPDATE deliveries SET next_at = $1 WHERE state = 'pending' AND next_at > $1 AND (created_at > $2 OR next_at > $3)`,
      now,
      ahead,
      ahead + longest.retryMs,
    ],
    [
      `UPDATE deliveries SET leased_until = 0 WHERE state = 'pending' AND leased_until > $1`,
      reallyAhead + longest.deliveryLeaseMs,
    ],
    ['UPDATE mails SET next_at = $1 WHERE created_at > $2 OR next_at > $3', now, ahead, ahead + longest.retryMs],
    ['UPDATE jobs SET next_at = $1 WHERE next_at > $2', now, ahead + longest.jobMs],
    ['UPDATE jobs SET leased_until = 0 WHERE leased_until > $1', reallyAhead + longest.jobLeaseMs],
    ['UPDATE agent_tests SET started_at = 0 WHERE started_at > $1', reallyAhead],
    [
      'UPDATE idempotency_keys SET running_until = 0 WHERE created_at > $1 AND status IS NULL AND running_until > $2',
      ahead,
      reallyAhead + longest.requestMs,
    ],
    // The order of the two times is kept, because it decides whether the agent is hidden.
    [
      `UPDATE agents SET failed_at = CASE WHEN failed_at > $2 THEN $1 ELSE failed_at END,
         last_pass_at = CASE WHEN last_pass_at > $2 THEN $1 - CASE WHEN failed_at > last_pass_at THEN 1 ELSE 0 END
           ELSE last_pass_at END,
         tested_at = CASE WHEN tested_at > $2 THEN $1 ELSE tested_at END
       WHERE ${LISTED} AND (last_pass_at > $2 OR failed_at > $2)`,
      now,
      ahead,
    ],
    [
      `UPDATE agents SET deactivated_at = $1 WHERE status = 'inactive' AND deleted_at IS NULL AND deactivated_at > $2`,
      now,
      ahead,
    ],
  ]
  let changed = 0
  for (const [sql, ...values] of steps) changed += await tx.run(sql, values)
  return changed
}
