/** Empties the outbox: takes what is due, at most two at a time per host and fair between agents. Source: D37. */
import { dispatch, durations } from '../api/limits.ts'
import type { Reader, Tx } from '../store/db.ts'
import { claimDeliveries, type QueuedAgent, queuedAgent, queuedAgents, unclaimDeliveries } from '../store/outbox.ts'
import type { Market } from './market.ts'
import { onEvent } from './outbox.ts'
import { placesFor } from './places.ts'
import { attemptDelivery, type ClaimedDelivery, noteAttempt } from './webhook.ts'

export interface Dispatcher {
  /** Looks now for what is due; at one agent's queue, if it is named. */
  wake(agentId?: string): void
  /** Lets what is in flight end; takes nothing new. */
  close(): Promise<void>
}

const TICK_MS = 1000
/** Agents that one look at the queues reads at a time. */
const PAGE = 32

/** Starts sending. */
export function startDispatcher(market: Market): Dispatcher {
  const { world, log } = market
  const flight = inFlight(placesFor(market))
  const rung = new Set<string>()
  let closed = false
  let all = false
  let looking: Promise<void> | null = null

  const wake = (agentId?: string) => {
    if (closed) return
    if (agentId === undefined) all = true
    else rung.add(agentId)
    looking ??= look()
  }

  // `looking` is cleared in the same breath as the last look at what is wanted, so that no wish falls between the two.
  const look = async () => {
    try {
      while ((all || rung.size > 0) && !closed) {
        // Many bells at once are as good as a look at everyone.
        const named = all || rung.size > PAGE ? null : [...rung]
        all = false
        rung.clear()
        const claimed = await claim(market, flight, named)
        // Who was named had less to send than was thought: others may have a place.
        if (named && flight.leftBehind && claimed.length < named.length) all = true
        for (const delivery of claimed) take(delivery)
      }
    } catch (error) {
      log({ type: 'error', message: `Webhooks could not be taken up: ${(error as Error).message}` })
    } finally {
      looking = null
    }
  }

  const start = (delivery: ClaimedDelivery) => {
    const answered = attemptDelivery(market, delivery)
    const noted = answered
      .then(result => noteAttempt(market, delivery, result))
      .catch(error => {
        log({ type: 'error', message: `Webhook ${delivery.id} could not be noted: ${error.message}` })
        return false
      })
    // Its place is free when the answer is there; what waits behind it in its task may go when that is noted.
    flight.add(hostOf(delivery.webhookUrl), answered, noted).then(refill)
    noted.then(follows => follows && wake(delivery.agentId))
  }

  /** In hand already, but others were quicker to take the place. */
  const held: ClaimedDelivery[] = []

  const lease = (webhookUrl: string | null) =>
    closed || flight.leftBehind || !flight.hasPlace(webhookUrl) ? null : world.realNow() + dispatch.leaseMs

  const take = (delivery: ClaimedDelivery) => {
    // One whose lease could be over before its answer is there would be sent by two.
    if (closed || world.realNow() + durations.webhookTimeoutMs >= delivery.leasedUntil) giveBack(delivery)
    else if (flight.hasPlace(delivery.webhookUrl)) start(delivery)
    else held.push(delivery)
  }

  const unsent: ClaimedDelivery[] = []
  let giving: Promise<void> = Promise.resolve()

  /** What will not be sent by this claim is anyone's at once, not when the lease is over. */
  const giveBack = (...deliveries: ClaimedDelivery[]) => {
    unsent.push(...deliveries)
    giving = giving.then(async () => {
      const given = unsent.splice(0)
      if (given.length === 0) return
      await market.db
        .write(tx => unclaimDeliveries(tx, given))
        .catch(error => {
          log({ type: 'error', message: `Webhooks in hand wait until their lease is over: ${error.message}` })
        })
      for (const { agentId } of given) wake(agentId)
    })
  }

  const refill = () => {
    for (const delivery of held.splice(0)) take(delivery)
    if (!flight.leftBehind) return
    const next = flight.next.splice(0, Math.max(1, flight.room()))
    if (next.length === 0) wake()
    for (const agentId of next) wake(agentId)
  }

  const tick = () => {
    wake()
    if (!closed) world.after(TICK_MS, tick)
  }
  onEvent(world, { wake, take, lease })
  tick()

  return {
    wake,
    async close() {
      closed = true
      await looking
      giveBack(...held.splice(0))
      await flight.ended()
      await giving
    },
  }
}

type Flight = ReturnType<typeof inFlight>

/** What is being sent, by host; and whose turn is next. */
function inFlight(most: () => number) {
  const byHost = new Map<string, number>()
  const notes = new Set<Promise<unknown>>()
  let sending = 0
  return {
    /** The agent that was served last: the next look begins behind it. */
    lastServed: '',
    /** Something due may have found no place: the next one that is free is worth a look at everyone. */
    leftBehind: false,
    /** Agents with something due that the last look at everyone came to after there was no place left. */
    next: [] as string[],
    of: (host: string) => byHost.get(host) ?? 0,
    room: () => most() - sending,
    hasPlace: (url: string | null) => most() > sending && (byHost.get(hostOf(url)) ?? 0) < dispatch.perHost,
    /** `noted` never rejects. Resolves when the place is free again. */
    async add(host: string, answered: Promise<unknown>, noted: Promise<unknown>): Promise<void> {
      byHost.set(host, (byHost.get(host) ?? 0) + 1)
      sending++
      notes.add(noted)
      noted.then(() => notes.delete(noted))
      await answered.catch(() => {}) // told where it is noted
      sending--
      const left = (byHost.get(host) ?? 1) - 1
      if (left > 0) byHost.set(host, left)
      else byHost.delete(host)
    },
    ended: () => Promise.all(notes),
  }
}

/** Agents without a usable address share one place: there is nothing to send there. */
const hostOf = (url: string | null): string => {
  if (url === null) return ''
  const known = hosts.get(url)
  if (known !== undefined) return known
  if (hosts.size >= KEPT_HOSTS) hosts.clear()
  const host = URL.canParse(url) ? new URL(url).host : ''
  hosts.set(url, host)
  return host
}
const hosts = new Map<string, string>()
const KEPT_HOSTS = 10_000

/** Takes up what may be sent now: of the named agents' queues, or of everyone's. */
async function claim(market: Market, flight: Flight, named: readonly string[] | null): Promise<ClaimedDelivery[]> {
  const { db } = market
  if (named === null) flight.leftBehind = false
  if (flight.room() <= 0) {
    flight.leftBehind = true
    return []
  }
  if (named) return db.write(async tx => takeUp(market, tx, await dueOf(market, tx, named), flight))
  const due = await dueInTurn(market, flight)
  return due.length === 0 ? [] : db.write(tx => takeUp(market, tx, due, flight))
}

async function takeUp({ world }: Market, tx: Tx, due: readonly QueuedAgent[], flight: Flight) {
  const counts = share(due, flight)
  const realNow = world.realNow()
  const leasedUntil = realNow + dispatch.leaseMs
  const at = { now: world.now(), realNow, leasedUntil }
  const take = async ({ agentId, webhookUrl, secret }: QueuedAgent): Promise<ClaimedDelivery[]> => {
    const count = counts.get(agentId) ?? 0
    const rows = count === 0 ? [] : await claimDeliveries(tx, { ...at, agentId, count })
    // As many as were asked for: there may be more.
    if (rows.length === count) flight.leftBehind = true
    return rows.map(row => ({ ...row, leasedUntil, webhookUrl, secret }))
  }
  return (await Promise.all(due.map(take))).flat()
}

const dueOf = async ({ world }: Market, q: Reader, named: readonly string[]) => {
  const asked = named.map(agentId => queuedAgent(q, agentId, world.now(), world.realNow()))
  return (await Promise.all(asked)).filter(agent => agent?.due === 1) as QueuedAgent[]
}

/** Agents with something due and a host that has room, from behind the one served last, once around at most. */
async function dueInTurn({ db, world }: Market, flight: Flight): Promise<QueuedAgent[]> {
  const due: QueuedAgent[] = []
  const begin = flight.lastServed
  let after = begin
  let around = begin === ''
  for (;;) {
    const page = await db.read(q => queuedAgents(q, { after, count: PAGE, now: world.now(), realNow: world.realNow() }))
    for (const [at, agent] of page.entries()) {
      if (around && begin !== '' && agent.agentId > begin) return due
      if (!agent.due) continue
      if (flight.of(hostOf(agent.webhookUrl)) < dispatch.perHost) due.push(agent)
      else flight.leftBehind = true
      if (due.length < flight.room()) continue
      flight.leftBehind = true
      flight.next = page
        .slice(at + 1)
        .filter(({ due }) => due === 1)
        .map(({ agentId }) => agentId)
      return due
    }
    if (page.length === PAGE) after = page.at(-1)!.agentId
    else if (around) return due
    else {
      around = true
      after = ''
    }
  }
}

/** How many each agent may send now: one each in turn, then a second where the host has room left. */
export function share(
  due: readonly Pick<QueuedAgent, 'agentId' | 'webhookUrl'>[],
  flight: Pick<Flight, 'of' | 'room' | 'lastServed'>,
): Map<string, number> {
  const counts = new Map<string, number>()
  const taken = new Map<string, number>()
  let room = flight.room()
  for (let round = 0; round < dispatch.perHost; round++) {
    for (const { agentId, webhookUrl } of due) {
      const host = hostOf(webhookUrl)
      const busy = flight.of(host) + (taken.get(host) ?? 0)
      if (room <= 0 || busy >= dispatch.perHost) continue
      counts.set(agentId, (counts.get(agentId) ?? 0) + 1)
      taken.set(host, (taken.get(host) ?? 0) + 1)
      flight.lastServed = agentId
      room--
    }
  }
  return counts
}
