/** Empties the outbox: takes what is due, at most two at a time per host and fair between agents. Source: D37. */
import { dispatch, durations } from '../api/limits.ts'
import { unclaimDeliveries } from '../store/outbox.ts'
import { claim } from './claims.ts'
import { hostOf, inFlight } from './flight.ts'
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
/** So many bells at once are as good as a look at everyone. */
const MANY_BELLS = 32

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
        const named = all || rung.size > MANY_BELLS ? null : [...rung]
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
