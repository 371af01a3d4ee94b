/** Traces by OpenTelemetry, whose package is loaded when it is asked for. Whoever runs the process starts an SDK before. Source: A-320. */
import type { Context, SpanKind as Kind } from '@opentelemetry/api'
import type { NewSpan, Tracer } from '../market/tracing.ts'
import { UsageError, version } from '../settings/config.ts'
import { aroundUnits } from '../store/around.ts'
import type { Db } from '../store/db.ts'

const MISSING =
  'MARKETPLACE_TRACING=on needs the package @opentelemetry/api, and an SDK that takes the spans: ' +
  'npm install @opentelemetry/api @opentelemetry/sdk-node, then start it with NODE_OPTIONS="--import ./tracing.mjs".'

export async function loadTracer(): Promise<Tracer> {
  const { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import(
    '@opentelemetry/api'
  ).catch(() => {
    throw new UsageError(MISSING)
  })
  const kinds: Readonly<Record<NewSpan['kind'], Kind>> = {
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    internal: SpanKind.INTERNAL,
  }
  const tracer = trace.getTracer('agent-marketplace', version)
  const parentOf = (traceparent: string | null | undefined): Context =>
    traceparent === undefined ? context.active() : propagation.extract(ROOT_CONTEXT, { traceparent: traceparent ?? '' })
  return {
    span({ name, kind, attributes = {}, parent }, work, after) {
      return tracer.startActiveSpan(name, { kind: kinds[kind], attributes }, parentOf(parent), async span => {
        try {
          const value = await work()
          if (after) span.setAttributes(after(value))
          return value
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).constructor.name })
          throw error
        } finally {
          span.end()
        }
      })
    },
    current() {
      const carrier: { traceparent?: string } = {}
      propagation.inject(context.active(), carrier)
      return carrier.traceparent
    },
  }
}

/** A span for each transaction that writes, and for each read of one state; packed reads have none. */
export const tracedDb = (db: Db, tracer: Tracer): Db =>
  aroundUnits(db, (unit, work, run) =>
    unit === 'readCommitted' ? run(work) : tracer.span({ name: `database ${unit}`, kind: 'internal' }, () => run(work)),
  )
