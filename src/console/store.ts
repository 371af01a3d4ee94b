/** A value that components follow. */
import { useLayoutEffect, useState } from 'preact/hooks'

export class Store<T> {
  #value: T
  readonly #followers = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const follow of this.#followers) follow()
  }

  /** Returns what ends it. */
  follow(follower: () => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }
}

/** The value of a store; the component is drawn anew whenever it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, drawAnew] = useState({})
  // Not after the next frame: what changes until then would be missed.
  useLayoutEffect(() => store.follow(() => drawAnew({})), [store])
  return store.value
}
