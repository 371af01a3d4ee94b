/** What waits for a decision or to be sent. */
import { limits } from '../../../api/limits.ts'
import type { Reader } from '../../db.ts'

/** Where it is, and since when each entry waits. An index holds just these. */
const queues = {
  agents: `updated_at AS since FROM agents WHERE status = 'pending_review' AND deleted_at IS NULL`,
  disputes: `opened_at AS since FROM disputes WHERE status = 'open'`,
  deposits: `created_at AS since FROM transfers WHERE kind = 'deposit' AND status = 'pending'
    AND kind IN ('deposit', 'withdrawal')`,
  withdrawals: `created_at AS since FROM transfers WHERE kind = 'withdrawal' AND status = 'pending'
    AND kind IN ('deposit', 'withdrawal')`,
  webhooks: 'created_at AS since FROM deliveries WHERE ended_at IS NULL',
  mails: 'created_at AS since FROM mails',
} as const

export type Queue = keyof typeof queues
interface Waiting {
  queue: Queue
  count: number
  oldestAt: number | null
}

const all = Object.entries(queues).map(
  ([queue, what]) => `SELECT '${queue}' AS queue, COUNT(*) AS count, MIN(since) AS "oldestAt"
    FROM (SELECT ${what} LIMIT ${limits.page.reach}) side_${queue}`,
)

export const queuesNow = (q: Reader) => q.all<Waiting>(all.join(' UNION ALL '))
