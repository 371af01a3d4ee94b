/** What waits for a decision or to be sent. */
import { limits } from '../../../api/limits.ts'
import type { Reader } from '../../db.ts'
import type { Tallied } from '../tallies.ts'

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

/** Those that every write counts, and the order of an index that the oldest is first in: to count ten thousand takes 1 ms. */
const counted: { readonly [queue in Queue]?: readonly [Tallied, string] } = {
  disputes: ['disputed tasks', 'opened_at'],
  deposits: ['deposit pending', 'id'],
  withdrawals: ['withdrawal pending', 'id'],
}

const all = (Object.keys(queues) as Queue[]).map(queue => {
  const what = queues[queue]
  const [tally, order] = counted[queue] ?? []
  return tally
    ? `SELECT '${queue}' AS queue, CAST(COALESCE(SUM(count), 0) AS BIGINT) AS count,
      (SELECT since FROM (SELECT ${what} ORDER BY ${order} LIMIT 1) side_${queue}) AS "oldestAt" FROM tallies WHERE name = '${tally}'`
    : `SELECT '${queue}' AS queue, COUNT(*) AS count, MIN(since) AS "oldestAt"
      FROM (SELECT ${what} LIMIT ${limits.page.reach}) side_${queue}`
})

export const queuesNow = (q: Reader) => q.all<Waiting>(all.join(' UNION ALL '))
