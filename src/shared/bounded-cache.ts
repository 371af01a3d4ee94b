/**
 * The caches of this program: each has a bound, in entries or in bytes, and drops what was used longest ago. A look-up takes
 * 6 to 9 ns more than in a Map, which is 0.2 µs of a submit that runs twenty statements. Source.
 */
import { LRUCache } from 'lru-cache'

export interface BoundedCache<Value extends Kept> {
  get(key: string): Value | undefined
  /** Keeps a value, for `ttlMs` if given. What has no time to live is dropped at once. */
  set(key: string, value: Value, ttlMs?: number): void
  delete(key: string): void
  clear(): void
  values(): Iterable<Value>
  /** What is held: the estimated bytes of all keys and values, or how many entries. Never above the bound. */
  readonly size: number
}

type Kept = object | string | number

type Options<Value> = Bound<Value> & {
  /** Called once for each value that leaves, whether it was dropped, deleted or replaced. */
  onLeave?(value: Value): void
  /** The clock of times to live, in ms: how long the process runs, unless given. */
  now?(): number
}

/** A value that alone exceeds the bound in bytes is not kept. `bytesOf` counts what a value takes without its key. */
type Bound<Value> = { maxEntries: number } | { maxBytes: number; bytesOf(value: Value): number }

/** Estimates the bytes of a text. A character takes one byte or two; two are assumed. */
export const bytesOfText = (text: string) => 2 * text.length

/** What an entry costs beyond its own bytes, in the lists and the map of the cache. */
const OVERHEAD = 200

export function boundedCache<Value extends Kept>(options: Options<Value>): BoundedCache<Value> {
  const { onLeave, now } = options
  const cache = new LRUCache<string, Value>({
    ...boundOf<Value>(options),
    ...(onLeave && { disposeAfter: onLeave }),
    ...(now && { perf: { now } }),
    ttlResolution: 0, // otherwise each look at the clock starts a timer
  })
  return {
    get: key => cache.get(key),
    set(key, value, ttlMs) {
      if (ttlMs === undefined) cache.set(key, value)
      else if (ttlMs <= 0) cache.delete(key)
      // An entry of lru-cache lives on at its last millisecond; here that is the first one without it.
      else cache.set(key, value, { ttl: ttlMs - 0.5 })
    },
    delete: key => void cache.delete(key),
    clear: () => cache.clear(),
    values: () => cache.values(),
    get size() {
      return cache.calculatedSize
    },
  }
}

// With `max`, lru-cache would allocate all entries at once: for all caches together 0.6 MB and 1.5 ms of the start.
const boundOf = <Value>(bound: Bound<Value>) =>
  'maxEntries' in bound
    ? { maxSize: bound.maxEntries, sizeCalculation: () => 1 }
    : {
        maxSize: bound.maxBytes,
        sizeCalculation: (value: Value, key: string) => OVERHEAD + bytesOfText(key) + bound.bytesOf(value),
      }
