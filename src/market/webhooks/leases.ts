/**
 * Who may send a webhook now. Where other processes send too, it is claimed by a lease in its row; on a database that is
 * this process's alone, what is in hand is known here, and a claim writes nothing. Source: A-37.
 */
import { dispatch } from '../../api/limits.ts'
import type { Reader, Tx } from '../../store/db.ts'
import {
  claimDelivery,
  type DeliveryRow,
  dueDeliveries,
  type QueuedAgent,
  type QueueHead,
  queuedAgent,
  queuedAgents,
  queueHead,
  queueHeads,
  unclaimDeliveries,
} from '../../store/tables/outbox.ts'
import type { Market } from '../market.ts'

/** A delivery for one sender alone. */
export interface HeldDelivery extends DeliveryRow {
  /** The number of the attempt that it is held for; `attempts` is what its row says meanwhile. */
  attempt: number
  /** Real ms; infinity where nobody else could take it. */
  heldUntil: number
}

/** One look at the queues. */
export interface Look {
  /** Of these agents, those that have something due which nobody has in hand. */
  dueOf(agentIds: readonly string[]): Promise<QueuedAgent[]>
  /** Takes up to `count` of one agent. */
  take(agentId: string, count: number): Promise<HeldDelivery[]>
}

export interface Hands {
  /** So many of one host are better kept until a place is free than given back. */
  readonly mostWaiting: number
  /** A new pass over the queues: what is found from now on is held, or left, before the next one begins. */
  begin(): void
  look<T>(work: (look: Look) => Promise<T>): Promise<T>
  /** Up to `count` agents with something to send now or later, by their ids, behind `after`. */
  queued(after: string, count: number): Promise<QueuedAgent[]>
  /** A delivery that is in hand from its beginning, and what its row says of that. */
  claimNew(): Pick<HeldDelivery, 'attempts' | 'heldUntil'> & { leasedUntil: number }
  /** False if it is in hand already, or was until a moment ago: a look may tell of it late. */
  hold(delivery: HeldDelivery): boolean
  /** What became of the attempt is noted, or never will be. */
  release(delivery: HeldDelivery): void
  /** Takes claims back that came to nothing, as if they had not been. Of what is held alone. */
  giveBack(deliveries: readonly HeldDelivery[]): Promise<unknown>
}

export const handsOf = (market: Market): Hands => (market.db.shared ? leases(market) : ownHands(market))

const times = ({ world }: Market) => ({ now: world.now(), realNow: world.realNow() })

function leases(market: Market): Hands {
  const { db, world } = market
  return {
    mostWaiting: Number.POSITIVE_INFINITY, // a lease is two writes
    begin() {},
    look: work => db.write(tx => work(leasing(market, tx))),
    queued: (after, count) => db.read(q => queuedAgents(q, { ...times(market), after, count })),
    claimNew() {
      const heldUntil = world.realNow() + dispatch.leaseMs
      return { heldUntil, leasedUntil: heldUntil, attempts: 1 }
    },
    hold: () => true,
    release() {},
    giveBack: deliveries => db.write(tx => unclaimDeliveries(tx, deliveries)),
  }
}

function leasing(market: Market, tx: Tx): Look {
  const at = times(market)
  const heldUntil = at.realNow + dispatch.leaseMs
  return {
    async dueOf(agentIds) {
      const agents = await Promise.all(agentIds.map(agentId => queuedAgent(tx, { ...at, agentId })))
      return agents.filter(agent => agent?.due === 1) as QueuedAgent[]
    },
    async take(agentId, count) {
      const claim = { ...at, agentId, leasedUntil: heldUntil }
      const rows = await Promise.all(Array.from({ length: count }, () => claimDelivery(tx, claim)))
      return rows.filter(row => row !== undefined).map(row => ({ ...row, attempt: row.attempts, heldUntil }))
    },
  }
}

const FOREVER = Number.POSITIVE_INFINITY

function ownHands(market: Market): Hands {
  const { db, world } = market
  const held = new Map<string, HeldDelivery>()
  /** By agent: what this pass has found for it. Nobody else changes it, so it stands until something of the agent is taken. */
  const heads = new Map<string, DeliveryRow>()
  /** Ids of what has left our hands during this pass, which may have seen it before. */
  const released = new Set<string>()

  const countOf = (agentId: string) => {
    let count = 0
    for (const one of held.values()) if (one.agentId === agentId) count++
    return count
  }
  const free = async (q: Reader, agentId: string, count: number): Promise<DeliveryRow[]> => {
    const rows = await dueDeliveries(q, { agentId, now: world.now(), count: count + countOf(agentId) })
    return rows.filter(({ id }) => !held.has(id)).slice(0, count)
  }
  const withDue = async (q: Reader, found: QueueHead): Promise<QueuedAgent> => {
    const { agentId, builderId, webhookUrl, secret } = found
    const head = found.id === null ? undefined : held.has(found.id) ? (await free(q, agentId, 1))[0] : found
    if (head) heads.set(agentId, head)
    return { agentId, builderId, webhookUrl, secret, due: head ? 1 : 0 }
  }
  const lookWith = (q: Reader): Look => ({
    async dueOf(agentIds) {
      const found = await Promise.all(agentIds.map(agentId => queueHead(q, agentId, world.now())))
      const agents = await Promise.all(found.filter(one => one !== undefined).map(one => withDue(q, one)))
      return agents.filter(({ due }) => due === 1)
    },
    async take(agentId, count) {
      const head = count === 1 ? heads.get(agentId) : undefined
      const rows = head ? [head] : await free(q, agentId, count)
      return rows.map(({ id, taskId, event, body, attempts }) => {
        return { id, agentId, taskId, event, body, attempts, attempt: attempts + 1, heldUntil: FOREVER }
      })
    },
  })

  return {
    mostWaiting: dispatch.perHost, // others of the host have their turn before the next
    begin() {
      heads.clear()
      released.clear()
    },
    look: work => db.read(q => work(lookWith(q))),
    queued: (after, count) =>
      db.read(async q => {
        const found = await queueHeads(q, { after, count, now: world.now() })
        return Promise.all(found.map(agent => withDue(q, agent)))
      }),
    claimNew: () => ({ heldUntil: FOREVER, leasedUntil: 0, attempts: 0 }),
    hold(delivery) {
      if (held.has(delivery.id) || released.has(delivery.id)) return false
      held.set(delivery.id, delivery)
      heads.delete(delivery.agentId)
      return true
    },
    release({ id }) {
      if (held.delete(id)) released.add(id)
    },
    async giveBack(deliveries) {
      for (const { id } of deliveries) held.delete(id)
    },
  }
}
