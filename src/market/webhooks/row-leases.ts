/** Claims as leases in the rows of deliveries, for instances that share a database. Source. */
import { dispatch } from '../../api/dispatch.ts'
import { durations } from '../../api/limits.ts'
import type { Tx } from '../../store/db.ts'
import {
  claimDelivery,
  type QueuedAgent,
  queuedAgent,
  queuedAgents,
  unclaimDeliveries,
} from '../../store/tables/webhooks/outbox.ts'
import type { Market } from '../market.ts'
import type { Leases, Pass } from './leases.ts'
import { Senders } from './senders.ts'

export function rowLeases(market: Market): Leases {
  const { db, world } = market
  const senders = new Senders(market)
  return {
    maxWaiting: Number.POSITIVE_INFINITY, // giving a lease back and claiming it again are two writes
    get mayClaim() {
      return senders.isHeard
    },
    open: freed => senders.open(freed),
    close: () => senders.close(),
    isValid: ({ sender, claimedUntil }) =>
      sender === senders.id && world.realNow() + durations.webhookTimeoutMs < claimedUntil,
    begin() {},
    async pass(work) {
      const sender = await senders.beHeard()
      return db.write(tx => work(leasing(market, tx, sender)))
    },
    // Read apart, so that a pass that finds nothing writes nothing.
    async passOverAll(find, claim) {
      const sender = await senders.beHeard()
      const due = await find((after, count) => db.read(q => queuedAgents(q, { ...times(market), after, count })))
      return due.length === 0 ? [] : db.write(tx => claim(leasing(market, tx, sender), due))
    },
    claimNew() {
      const claimedUntil = world.realNow() + dispatch.leaseMs
      return { claimedUntil, leasedUntil: claimedUntil, attempts: 1, sender: senders.id }
    },
    acquire: () => true,
    release() {},
    giveBack: deliveries => db.write(tx => unclaimDeliveries(tx, deliveries)),
  }
}

const times = ({ world }: Market) => ({ now: world.now(), realNow: world.realNow() })

function leasing(market: Market, tx: Tx, sender: string): Pass {
  const at = times(market)
  const claimedUntil = at.realNow + dispatch.leaseMs
  return {
    async dueOf(agentIds) {
      const agents = await Promise.all(agentIds.map(agentId => queuedAgent(tx, { ...at, agentId })))
      return agents.filter(agent => agent?.due === 1) as QueuedAgent[]
    },
    async claim({ agentId, builderId, webhookUrl, secret }, count) {
      const claim = { ...at, agentId, leasedUntil: claimedUntil, sender }
      const rows = await Promise.all(Array.from({ length: count }, () => claimDelivery(tx, claim)))
      return rows
        .filter(row => row !== undefined)
        .map(row => ({ ...row, attempt: row.attempts, claimedUntil, sender, builderId, webhookUrl, secret }))
    },
  }
}
