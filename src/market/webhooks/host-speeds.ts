/** Remembers how long each host took the last time. Source: A-188. */
import { dispatch } from '../../api/limits.ts'
import type { World } from '../../world/world.ts'

const KEPT_HOSTS = 10_000

export class HostSpeeds {
  readonly #world: Pick<World, 'realNow'>
  readonly #known = new Map<string, { durationMs: number; at: number }>()

  constructor(world: Pick<World, 'realNow'>) {
    this.#world = world
  }

  wasSlow(host: string): boolean {
    return (this.#last(host) ?? 0) > dispatch.knownSlowMs
  }

  wasQuick(host: string): boolean {
    return (this.#last(host) ?? Number.POSITIVE_INFINITY) < dispatch.slowAfterMs
  }

  note(host: string, durationMs: number): void {
    this.#known.delete(host)
    this.#known.set(host, { durationMs, at: this.#world.realNow() })
    if (this.#known.size > KEPT_HOSTS) this.#known.delete(this.#known.keys().next().value as string)
  }

  #last(host: string): number | undefined {
    const known = this.#known.get(host)
    return known && this.#world.realNow() - known.at < dispatch.knownForMs ? known.durationMs : undefined
  }
}
