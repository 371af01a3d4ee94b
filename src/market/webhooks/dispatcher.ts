/** Empties the outbox: takes what is due, at most two at a time per host and fair between agents. Source: A-37. */
import { dispatch, durations } from '../../api/limits.ts'
import type { Market } from '../market.ts'
import { attemptDelivery, type ClaimedDelivery } from './attempt.ts'
import { placesFor } from './concurrency.ts'
import { inFlight, targetOf } from './in-flight.ts'
import { handsOf } from './leases.ts'
import { type Outlet, onEvent } from './outbox.ts'
import { notesOf } from './outcomes.ts'
import { claim } from './scheduler.ts'

export interface Dispatcher {
  /** Looks now for what is due; at one agent's queue, if it is named. */
  wake(agentId?: string): void
  /** Lets what is in flight end; takes nothing new. */
  close(): Promise<void>
}

const TICK_MS = 1000
/** So many bells at once are as good as a look at everyone. */
const MANY_BELLS = 32

/** Starts sending. */
export function startDispatcher(market: Market): Dispatcher {
  const { world, log } = market
  const hands = handsOf(market)
  const notes = notesOf(market)
  const places = placesFor(market)
  // While the database refuses what became of webhooks, sending more of them would only fill the memory.
  const most = () => (notes.refused < dispatch.mostRefused ? places() : 0)
  const flight = inFlight({ world, most, freed: () => refill() })
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
        const named = all || rung.size > MANY_BELLS ? null : [...rung]
        all = false
        rung.clear()
        movedMeanwhile.clear()
        startWaiting()
        const claimed = await claim(hands, flight, named)
        // Who was named had less to send than was thought: others may have a place.
        if (named && flight.leftBehind && claimed.length < named.length) all = true
        for (const delivery of claimed) take(delivery)
      }
    } catch (error) {
      log({ type: 'error', message: `Webhooks could not be taken up: ${(error as Error).message}` })
    } finally {
      looking = null
      movedMeanwhile.clear()
    }
  }

  const start = (delivery: ClaimedDelivery) => {
    const answered = attemptDelivery(market, delivery)
    const noted = answered
      .then(result => notes.write(delivery, result))
      .then(follows => {
        hands.release(delivery)
        return follows
      })
    // Its place is free when the answer is there; what waits behind it in its task may go when that is noted.
    flight.add(targetOf(delivery), answered, noted)
    noted.then(follows => follows && wake(delivery.agentId))
  }

  /** In hand, but others were quicker to take the place. */
  let waiting: ClaimedDelivery[] = []
  /** Agents that have another address or secret than the look under way may have seen. */
  const movedMeanwhile = new Set<string>()

  const claimNew: Outlet['claimNew'] = agent => {
    if (closed || flight.leftBehind || flight.places() <= 0 || !flight.hasPlace(targetOf(agent))) return null
    return hands.claimNew()
  }

  const take = (delivery: ClaimedDelivery) => {
    // What came first has it: the look that came too late is followed by another.
    if (!hands.hold(delivery)) return wake(delivery.agentId)
    const to = targetOf(delivery)
    if (isLate(delivery) || movedMeanwhile.has(delivery.agentId)) giveBack(delivery)
    else if (flight.places() > 0 && flight.hasPlace(to)) start(delivery)
    else if (flight.waitingAt(to) < hands.mostWaiting) {
      waiting.push(delivery)
      flight.waits(to, 1)
    } else {
      flight.leftBehind = true
      giveBack(delivery)
    }
  }

  /** One whose time could be over before its answer is there would be sent by two. */
  const isLate = ({ heldUntil }: ClaimedDelivery) => closed || world.realNow() + durations.webhookTimeoutMs >= heldUntil

  const dropWaiting = (isDropped: (delivery: ClaimedDelivery) => boolean) => {
    const dropped = waiting.filter(isDropped)
    if (dropped.length === 0) return
    waiting = waiting.filter(delivery => !dropped.includes(delivery))
    for (const delivery of dropped) flight.waits(targetOf(delivery), -1)
    giveBack(...dropped)
  }

  const moved = (agentId: string) => {
    if (looking) movedMeanwhile.add(agentId)
    dropWaiting(delivery => delivery.agentId === agentId)
  }

  const unsent: ClaimedDelivery[] = []
  let giving: Promise<void> = Promise.resolve()

  /** What will not be sent by this claim is anyone's at once, not when its time is over. */
  const giveBack = (...deliveries: ClaimedDelivery[]) => {
    unsent.push(...deliveries)
    giving = giving.then(async () => {
      const given = unsent.splice(0)
      if (given.length === 0) return
      await hands.giveBack(given).catch(error => {
        log({ type: 'error', message: `Webhooks in hand wait until their lease is over: ${error.message}` })
      })
      for (const { agentId } of given) wake(agentId)
    })
  }

  const startWaiting = () => {
    while (flight.places() > 0) {
      const at = waiting.findIndex(delivery => flight.hasPlace(targetOf(delivery)))
      if (at < 0) break
      const [delivery] = waiting.splice(at, 1)
      flight.waits(targetOf(delivery!), -1)
      if (isLate(delivery!)) giveBack(delivery!)
      else start(delivery!)
    }
  }

  const refill = () => {
    startWaiting()
    if (!flight.leftBehind) return
    const next = flight.next.splice(0, Math.max(1, flight.places()))
    if (next.length === 0) wake()
    for (const agentId of next) wake(agentId)
  }

  const tick = () => {
    dropWaiting(isLate)
    startWaiting()
    wake()
    if (!closed) world.after(TICK_MS, tick)
  }
  onEvent(world, { wake, moved, take, claimNew })
  tick()

  return {
    wake,
    async close() {
      closed = true
      notes.close()
      await looking
      dropWaiting(isLate)
      await flight.ended()
      await giving
    },
  }
}
