/** Caches with a bound in bytes: what was used longest ago goes first. Source: A-49. */
import { LRUCache } from 'lru-cache'

export interface BoundedCache<Value extends object | string> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
  /** Of keys and values, as they are counted. Never above the bound. */
  readonly bytes: number
}

/** A character takes one byte or two, and nobody says which. */
export const bytesOfText = (text: string) => 2 * text.length

/** What a value costs beyond its own bytes, in the lists and the map of the cache. */
const OVERHEAD = 200

/** What alone is larger than the bound is not kept. */
export function boundedCache<Value extends object | string>(
  maxBytes: number,
  bytesOf: (value: Value) => number,
): BoundedCache<Value> {
  const cache = new LRUCache<string, Value>({
    maxSize: maxBytes,
    sizeCalculation: (value, key) => OVERHEAD + bytesOfText(key) + bytesOf(value),
  })
  return {
    get: key => cache.get(key),
    set: (key, value) => void cache.set(key, value),
    delete: key => void cache.delete(key),
    clear: () => cache.clear(),
    get bytes() {
      return cache.calculatedSize
    },
  }
}
