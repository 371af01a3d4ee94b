/** LRU caches that are bounded in bytes. Source: A-49. */
import { LRUCache } from 'lru-cache'

export interface BoundedCache<Value extends object | string> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
  /** The estimated bytes of all keys and values. Never above the bound. */
  readonly bytes: number
}

/** Estimates the bytes of a text. A character takes one byte or two; two are assumed. */
export const bytesOfText = (text: string) => 2 * text.length

/** What an entry costs beyond its own bytes, in the lists and the map of the cache. */
const OVERHEAD = 200

/** Makes a cache. A value that alone exceeds the bound is not kept. */
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
