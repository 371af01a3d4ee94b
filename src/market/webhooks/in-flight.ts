/**
 * Counts the webhooks that are being sent, and those that are held and wait for a place. A place is taken until the answer is
 * there or is slow to come: slow webhooks have places of their own, of which no account and no domain has more than a
 * share. The share shrinks as they fill, so that there is a place for the next account. Source.
 */
import { dispatch } from '../../api/limits.ts'
import { domainOf } from '../../world/egress/domains.ts'
import type { OutgoingResult, World } from '../../world/world.ts'
import { boundedCache, bytesOfText } from '../bounded-cache.ts'
import { MIB } from '../mib.ts'

export type InFlight = ReturnType<typeof inFlight>

/** Where a webhook goes, and who gains by it. */
export interface Target {
  host: string
  /** The account and the domain whose shares it counts for. */
  keys: readonly string[]
}

export interface InFlightOptions {
  world: Pick<World, 'after' | 'realNow'>
  /** How many may be in flight at this moment, beside the slow ones. */
  most(): number
  /** A place has come free. */
  freed(): void
}

export function inFlight({ world, most, freed }: InFlightOptions) {
  const sending = counter()
  const waiting = counter()
  const quick = counter()
  const slow = counter()
  const hosts = createHosts(world)
  const notes = new Set<Promise<unknown>>()
  /** Among the quick ones though they are slow, as there was no place: each goes when one comes free. */
  const late = new Set<() => void>()

  // Only hosts that were quick the last time go beyond the share: any number of new names costs nothing.
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
    /** How many more may be sent. What waits for a busy host keeps nobody else from it. */
    places: () => most() - quick.total,
    /** Whether one of them may go there. */
    hasPlace: (to: Target) => sending.of(to.host) < dispatch.perHost && fits(to, dispatch.shareAlone),
    /** How many more may be taken for this host. */
    roomAt: ({ host }: Target) => dispatch.perHost - sending.of(host) - waiting.of(host),
    /** Whether its account and its domain would have no more than this share with one more, and `more` of each key. */
    fits,
    /** How many of this host are in hand without a place; one more of them, or one less. */
    waitingAt: ({ host }: Target) => waiting.of(host),
    waits: ({ host }: Target, change: 1 | -1) => waiting.add([host], change),
    /** `noted` never rejects. */
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
        () => end(Number.POSITIVE_INFINITY), // told where it is noted
      )
    },
    ended: () => Promise.all(notes),
  }
}

/** Counts by key; a key without a count takes no memory. */
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

/** How long hosts took the last time. */
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

/** Some ten thousand addresses; long ones count for more. */
const TARGET_BYTES = 8 * MIB

/** By builder and address: two builders may name the same one. It takes 1 to 3 µs to make, and 0.1 to 0.4 to find here. */
const targets = boundedCache<Target>(TARGET_BYTES, ({ host, keys }) => bytesOfText(host + keys.join('')))

/** Agents without a usable address share one place: there is nothing to send there. */
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
