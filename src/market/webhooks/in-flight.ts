/**
 * Counts the webhooks in flight, and those that are claimed and wait for a slot. A webhook takes a quick slot until its
 * response comes. If the response is slow to come, the webhook moves to a slow slot. No account and no domain may take
 * more than a share of the slow slots. The share shrinks as they fill, so that another account still finds one.
 * Source.
 */
import { dispatch } from '../../api/limits.ts'
import { domainOf } from '../../world/egress/domains.ts'
import type { OutgoingResult, World } from '../../world/world.ts'
import { boundedCache, bytesOfText } from '../bounded-cache.ts'
import { MIB } from '../mib.ts'

export type InFlight = ReturnType<typeof inFlight>

/** Where a webhook goes, and whose shares it counts against. */
export interface Target {
  host: string
  /** The account and the domain. */
  keys: readonly string[]
}

export interface InFlightOptions {
  world: Pick<World, 'after' | 'realNow'>
  /** How many quick slots there are at this moment. */
  most(): number
  /** Called when a slot has become free. */
  freed(): void
}

export function inFlight({ world, most, freed }: InFlightOptions) {
  const sending = counter()
  const waiting = counter()
  const quick = counter()
  const slow = counter()
  const hosts = createHosts(world)
  const notes = new Set<Promise<unknown>>()
  /** Slow webhooks that still take quick slots, because no slow slot was free. Each call moves one over. */
  const late = new Set<() => void>()

  // Only hosts that were quick the last time may go beyond the smaller share. New host names cost nothing, so they prove
  // nothing.
  const fits = ({ host, keys }: Target, share: number, more: (key: string) => number = () => 0) => {
    const isQuick = hosts.wasQuick(host)
    const most = isQuick ? share : dispatch.share
    const mostInAll = shareOfFree(isQuick)
    for (const key of keys) {
      const inQuick = quick.of(key) + more(key)
      const inSlow = slow.of(key)
      if (inQuick >= most || inSlow >= dispatch.slowShare || inQuick + inSlow >= mostInAll) return false
    }
    return true
  }

  const shareOfFree = (isQuick: boolean) => {
    const [most, part] = isQuick
      ? [dispatch.shareAlone, dispatch.slowPartOfQuick]
      : [dispatch.slowShare, dispatch.slowPart]
    return Math.min(most, Math.max(1, Math.floor((dispatch.slow - slow.total) * part)))
  }

  return {
    /** How many more webhooks may be sent now. Those that wait for a busy host take no slot. */
    places: () => most() - quick.total,
    /** Whether this target may take one of them. */
    hasPlace: (to: Target) => sending.of(to.host) < dispatch.perHost && fits(to, dispatch.shareAlone),
    /** How many more may be claimed for this host. */
    roomAt: ({ host }: Target) => dispatch.perHost - sending.of(host) - waiting.of(host),
    /** Whether one more webhook, besides `more` of each key, would keep the account and the domain within this share. */
    fits,
    /** How many claimed webhooks of this host wait for a slot. */
    waitingAt: ({ host }: Target) => waiting.of(host),
    /** Counts one more that waits, or one less. */
    waits: ({ host }: Target, change: 1 | -1) => waiting.add([host], change),
    /** Counts a webhook that was just sent until `answered` settles. `noted` never rejects. */
    add(to: Target, answered: Promise<OutgoingResult>, noted: Promise<unknown>): void {
      const { host, keys } = to
      let lane = slow.total < dispatch.slow && hosts.wasSlow(host) ? slow : quick
      sending.add([host], 1)
      lane.add(keys, 1)
      const toSlow = () => {
        late.delete(toSlow)
        lane.add(keys, -1)
        lane = slow
        lane.add(keys, 1)
        freed()
      }
      const timer = world.after(dispatch.slowAfterMs, () => {
        if (lane === slow) return
        if (slow.total < dispatch.slow) toSlow()
        else late.add(toSlow)
      })
      notes.add(noted)
      noted.then(() => notes.delete(noted))
      const end = (durationMs: number) => {
        timer.cancel()
        late.delete(toSlow)
        sending.add([host], -1)
        lane.add(keys, -1)
        hosts.tell(host, durationMs)
        if (lane === slow) [...late][0]?.()
        freed()
      }
      answered.then(
        result => end(result.durationMs),
        () => end(Number.POSITIVE_INFINITY), // the error is handled where the outcome is written
      )
    },
    ended: () => Promise.all(notes),
  }
}

/** Counts by key. A key whose count is 0 takes no memory. */
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

const KEPT_HOSTS = 10_000

/** Remembers how long each host took the last time. */
function createHosts({ realNow }: Pick<World, 'realNow'>) {
  const known = new Map<string, { durationMs: number; at: number }>()
  const last = (host: string) => {
    const one = known.get(host)
    return one && realNow() - one.at < dispatch.knownForMs ? one.durationMs : undefined
  }
  return {
    wasSlow: (host: string) => (last(host) ?? 0) > dispatch.knownSlowMs,
    wasQuick: (host: string) => (last(host) ?? Number.POSITIVE_INFINITY) < dispatch.slowAfterMs,
    tell(host: string, durationMs: number) {
      known.delete(host)
      known.set(host, { durationMs, at: realNow() })
      if (known.size > KEPT_HOSTS) known.delete(known.keys().next().value as string)
    },
  }
}

/** Enough for some ten thousand URLs. Long ones count for more. */
const TARGET_BYTES = 8 * MIB

/**
 * By builder and URL, as two builders may have the same one. Making a target takes 1 to 3 µs, finding it here 0.1 to 0.4.
 */
const targets = boundedCache<Target>(TARGET_BYTES, ({ host, keys }) => bytesOfText(host + keys.join('')))

/** Agents without a usable URL share one target: nothing is ever sent there. */
export function targetOf({ webhookUrl, builderId }: { webhookUrl: string | null; builderId: string }): Target {
  const url = webhookUrl ?? ''
  const key = `${builderId} ${url}`
  const known = targets.get(key)
  if (known) return known
  const { host, hostname } = URL.canParse(url) ? new URL(url) : { host: '', hostname: '' }
  const target = { host, keys: [`account ${builderId}`, `domain ${domainOf(hostname)}`] }
  targets.set(key, target)
  return target
}
