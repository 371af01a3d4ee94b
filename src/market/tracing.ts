/** Spans of what happens: request, transaction, webhook. Nothing is made of them unless somebody has asked. Source: A-320. */
import { boundedCache } from '../shared/bounded-cache.ts'

export type Attributes = Readonly<Record<string, string | number | boolean>>

/** What makes spans, and passes them on. */
export interface Tracer {
  /**
   * Runs the work within a span, which ends with it. `parent`: a `traceparent` of elsewhere; undefined: the span around it, if
   * any; null: none, because what runs around it has another cause. What the work returns may say more of it.
   */
  span<T>(span: NewSpan, work: () => Promise<T>, after?: (value: T) => Attributes): Promise<T>
  /** The `traceparent` of the span that runs now. */
  current(): string | undefined
}

export interface NewSpan {
  readonly name: string
  readonly kind: 'server' | 'client' | 'internal'
  readonly attributes?: Attributes
  readonly parent?: string | null | undefined
}

/** Webhooks go out behind their commit, outside of the request that has caused them. */
const REMEMBERED = 10_000

export class Tracing {
  tracer: Tracer | null = null
  readonly #causes = boundedCache<string>({ maxEntries: REMEMBERED })

  /** Keeps which span a webhook is caused by. Another instance, or a later start, begins a trace of its own. */
  remember(deliveryId: string): void {
    const cause = this.tracer?.current()
    if (cause !== undefined) this.#causes.set(deliveryId, cause)
  }

  causeOf(deliveryId: string): string | undefined {
    return this.#causes.get(deliveryId)
  }

  /** Runs the work alone if nobody has asked for traces. */
  span<T>(span: NewSpan, work: () => Promise<T>, after?: (value: T) => Attributes): Promise<T> {
    return this.tracer ? this.tracer.span(span, work, after) : work()
  }
}
