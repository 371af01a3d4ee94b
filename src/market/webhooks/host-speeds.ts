/** Remembers how long each host took the last time. Source: A-188. */
import { dispatch } from '../../api/dispatch.ts'
import { type BoundedCache, boundedCache } from '../../shared/bounded-cache.ts'
import type { World } from '../../world/world.ts'

const KEPT_HOSTS = 10_000

export class HostSpeeds {
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
