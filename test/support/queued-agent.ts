/** What passes over queues take and find, for tests that claim without a scheduler. */
import type { Leases } from '../../src/market/webhooks/leases.ts'
import type { QueuedAgent } from '../../src/store/tables/webhooks/outbox.ts'

export const queuedAgent = ({ id }: { id: string }): QueuedAgent => ({
  agentId: id,
  builderId: `builder of ${id}`,
  webhookUrl: `https://${id}.example/`,
  secret: `secret of ${id}`,
  due: 1,
})

/** The first agents of all queues, due or not. */
export const firstQueued = (leases: Leases): Promise<QueuedAgent[]> =>
  leases.passOverAll(
    queued => queued('', 32),
    async (_, found) => [...found],
  )
