/**
 * Counts the webhooks in flight, and those that are claimed and wait for a slot. A webhook takes a quick slot until its
 * response comes. If the response is slow to come, the webhook moves to a slow slot. No account and no domain may take
 * more than a share of the slow slots. The share shrinks as they fill, so that another account still finds one.
 * Source.
 */

import { dispatch } from '../../api/dispatch.ts'
import { type BoundedCache, boundedCache } from '../../shared/bounded-cache.ts'
import type { OutgoingResult, World } from '../../world/world.ts'
import type { Market } from '../market.ts'
import type { ClaimedDelivery } from '../webhook-outlet.ts'
import type { Target, TargetedDelivery } from './target.ts'
export interface InFlightOptions {
  world: Pick<World, 'after' | 'realNow'>
  /** How many quick slots there are at this moment. */
  limit(): number
  /** Called when a slot has become free. */
  onFree(): void
}

/** One webhook in flight, and the kind of slot that it takes. */
interface Sending {
  readonly to: Target
  slots: Counter
}

export class InFlight {
  readonly #options: InFlightOptions
  readonly #hosts: HostSpeeds
  readonly #byHost = counter()
  readonly #waitingByHost = counter()
  /** Slots that are taken, by account and domain. */
  readonly #quick = counter()
  readonly #slow = counter()
  /** Slow webhooks that still take quick slots, because no slow slot was free. */
  readonly #slowInQuick = new Set<Sending>()
  readonly #notes = new Set<Promise<unknown>>()

  constructor(options: InFlightOptions) {
    this.#options = options
    this.#hosts = new HostSpeeds(options.world)
  }

  /** How many more webhooks may be sent now. Those that wait for a busy host take no slot. */
  freeSlots(): number {
    return this.#options.limit() - this.#quick.total
  }

  /** Whether this target may take one of them. */
  hasSlot(to: Target): boolean {
    return this.#byHost.of(to.host) < dispatch.perHost && this.withinShares(to, dispatch.shareAlone)
  }

  /** How many more may be claimed for this host. */
  freeSlotsAt({ host }: Target): number {
    return dispatch.perHost - this.#byHost.of(host) - this.#waitingByHost.of(host)
  }

  /** Whether one more webhook, besides `more` of each key, would keep the account and the domain within this share. */
  withinShares({ host, keys }: Target, share: number, more: (key: string) => number = () => 0): boolean {
    // Only hosts that were quick the last time may go beyond the smaller share. New host names cost nothing, so they prove
    // nothing. Most often the smaller share has room, so nobody asks how quick the host was.
    return (
      this.#fit(keys, more, dispatch.share, this.#shareOfFree(false)) ||
      (this.#hosts.wasQuick(host) && this.#fit(keys, more, share, this.#shareOfFree(true)))
    )
  }

  /** How many claimed webhooks of this host wait for a slot. */
  waitingAt({ host }: Target): number {
    return this.#waitingByHost.of(host)
  }

  /** Counts one more that waits, or one less. */
  countWaiting({ host }: Target, change: 1 | -1): void {
    this.#waitingByHost.add([host], change)
  }

  /** Counts a webhook that was just sent until `answered` settles. `noted` never rejects. */
  add(to: Target, answered: Promise<OutgoingResult>, noted: Promise<unknown>): void {
    const isSlow = this.#slow.total < dispatch.slow && this.#hosts.wasSlow(to.host)
    const sending: Sending = { to, slots: isSlow ? this.#slow : this.#quick }
    this.#byHost.add([to.host], 1)
    sending.slots.add(to.keys, 1)
    const timer = this.#options.world.after(dispatch.slowAfterMs, () => this.#isSlow(sending))
    this.#notes.add(noted)
    noted.then(() => this.#notes.delete(noted))
    const end = (durationMs: number) => {
      timer.cancel()
      this.#end(sending, durationMs)
    }
    answered.then(
      result => end(result.durationMs),
      () => end(Number.POSITIVE_INFINITY), // the error is handled where the outcome is written
    )
  }

  get isEmpty(): boolean {
    return this.#notes.size === 0
  }

  /** Resolves when the outcomes of all are written. */
  ended(): Promise<unknown> {
    return Promise.all(this.#notes)
  }

  /** Whether each key may have one more: of the quick slots, and of all that it has in flight. */
  #fit(keys: readonly string[], more: (key: string) => number, most: number, mostInAll: number): boolean {
    for (const key of keys) {
      const inQuick = this.#quick.of(key) + more(key)
      const inSlow = this.#slow.of(key)
      if (inQuick >= most || inSlow >= dispatch.slowShare || inQuick + inSlow >= mostInAll) return false
    }
    return true
  }

  #shareOfFree(isQuick: boolean): number {
    const [most, part] = isQuick
      ? [dispatch.shareAlone, dispatch.slowPartOfQuick]
      : [dispatch.slowShare, dispatch.slowPart]
    return Math.min(most, Math.max(1, Math.floor((dispatch.slow - this.#slow.total) * part)))
  }

  #isSlow(sending: Sending): void {
    if (sending.slots === this.#slow) return
    if (this.#slow.total < dispatch.slow) this.#moveToSlow(sending)
    else this.#slowInQuick.add(sending)
  }

  #moveToSlow(sending: Sending): void {
    const { keys } = sending.to
    this.#slowInQuick.delete(sending)
    sending.slots.add(keys, -1)
    sending.slots = this.#slow
    sending.slots.add(keys, 1)
    this.#options.onFree()
  }

  #end(sending: Sending, durationMs: number): void {
    const { to, slots } = sending
    this.#slowInQuick.delete(sending)
    this.#byHost.add([to.host], -1)
    slots.add(to.keys, -1)
    this.#hosts.note(to.host, durationMs)
    if (slots === this.#slow) {
      const [longest] = this.#slowInQuick
      if (longest) this.#moveToSlow(longest)
    }
    this.#options.onFree()
  }
}

const KEPT_HOSTS = 10_000

/** Remembers how long each host took the last time. Source: A-188. */
class HostSpeeds {
  readonly #durations: BoundedCache<number>

  constructor(world: Pick<World, 'realNow'>) {
    this.#durations = boundedCache({ maxEntries: KEPT_HOSTS, now: () => world.realNow() })
  }

  wasSlow(host: string): boolean {
    return (this.#durations.get(host) ?? 0) > dispatch.knownSlowMs
  }

  wasQuick(host: string): boolean {
    return (this.#durations.get(host) ?? Number.POSITIVE_INFINITY) < dispatch.slowAfterMs
  }

  note(host: string, durationMs: number): void {
    this.#durations.set(host, durationMs, dispatch.knownForMs)
  }
}

/** Counts by key. A key whose count is 0 takes no memory. */
export type Counter = ReturnType<typeof counter>

export const counter = () => {
  const byKey = new Map<string, number>()
  return {
    total: 0,
    of: (key: string) => byKey.get(key) ?? 0,
    add(keys: readonly string[], change: 1 | -1) {
      this.total += change
      for (const key of keys) {
        const count = this.of(key) + change
        if (count > 0) byKey.set(key, count)
        else byKey.delete(key)
      }
    },
  }
}

/**
 * Returns the number of slots for webhooks at this moment. A client waits for each request, so webhooks yield to a burst of
 * requests for a while. Source: A-154. Requests pile up and drain with each sync of the disk, so a
 * burst is over only when none was seen for a while. A burst that lasts loses its precedence; otherwise the outbox would
 * grow without end.
 */
export function slotLimit({ db, world }: Pick<Market, 'db' | 'world'>): () => number {
  let since = Number.NEGATIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = world.realNow()
    // The machine's clock was set back, so earlier times can't be compared with this one.
    if (now < last) last = since = Number.NEGATIVE_INFINITY
    const isCalm = now - last > dispatch.calmMs
    if (db.waiting > dispatch.crowd) {
      if (isCalm) since = now
      last = now
    } else if (isCalm) {
      return dispatch.overall
    }
    return now - since < dispatch.patienceMs ? dispatch.besideCrowd : dispatch.overall
  }
}

/** Claimed deliveries that wait in memory until their host has a free slot. */
export class Backlog {
  readonly #inFlight: Pick<InFlight, 'freeSlots' | 'hasSlot' | 'countWaiting'>
  #waiting: TargetedDelivery[] = []

  constructor(inFlight: Pick<InFlight, 'freeSlots' | 'hasSlot' | 'countWaiting'>) {
    this.#inFlight = inFlight
  }

  add(one: TargetedDelivery): void {
    this.#waiting.push(one)
    this.#inFlight.countWaiting(one.to, 1)
  }

  /** Removes and returns the first delivery that may be sent now. Returns undefined if none may. */
  next(): TargetedDelivery | undefined {
    if (this.#waiting.length === 0 || this.#inFlight.freeSlots() <= 0) return undefined
    const at = this.#waiting.findIndex(({ to }) => this.#inFlight.hasSlot(to))
    if (at < 0) return undefined
    const [one] = this.#waiting.splice(at, 1)
    this.#inFlight.countWaiting(one!.to, -1)
    return one
  }

  /** Removes and returns every delivery that the predicate matches. */
  drop(isDropped: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[] {
    const dropped = this.#waiting.filter(({ delivery }) => isDropped(delivery))
    if (dropped.length === 0) return []
    this.#waiting = this.#waiting.filter(one => !dropped.includes(one))
    for (const { to } of dropped) this.#inFlight.countWaiting(to, -1)
    return dropped.map(({ delivery }) => delivery)
  }
}
