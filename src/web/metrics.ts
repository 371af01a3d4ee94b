/** What runs, in numbers, as Prometheus reads them. Fed by the log, so that counting has one place. Source: D7. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Figures } from '../market/figures.ts'
import type { Happening, Log } from '../market/log.ts'

export interface Metrics {
  /** A log that counts what it passes on. */
  tap(log: Log): Log
  text(figures: Figures): string
  close(): void
}

type Labels = Readonly<Record<string, string>>

/** The exposition format 0.0.4. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function createMetrics(): Metrics {
  const requests = new Counter()
  const durations = new Histogram()
  const webhooks = new Counter()
  const mails = new Counter()
  const lag = monitorEventLoopDelay({ resolution: 20 })
  lag.enable()

  function count(what: Happening) {
    if (what.type === 'request') {
      const { method, status } = what
      const route = what.route ?? 'none'
      requests.add(`${method} ${status} ${route}`, () => ({ method, route, status: String(status) }))
      durations.observe(`${method} ${route}`, what.ms / 1000, () => ({ method, route }))
    } else if (what.type === 'webhook') {
      const { event, outcome } = what
      webhooks.add(`${event} ${outcome}`, () => ({ event, outcome }))
    } else if (what.type === 'mail') {
      const { kind, outcome } = what
      mails.add(`${kind} ${outcome}`, () => ({ kind, outcome }))
    }
  }

  return {
    tap: log => what => {
      count(what)
      log(what)
    },
    text({ outbox, oldestSeconds, mailsWaiting, ledger }) {
      const families = [
        requests.family('marketplace_http_requests_total', 'Requests by route and status'),
        durations.family('marketplace_http_request_duration_seconds', 'Time from arrival to answer'),
        webhooks.family('marketplace_webhook_attempts_total', 'Attempts to deliver a webhook, by outcome'),
        mails.family('marketplace_mails_total', 'Attempts to send a mail, by outcome'),
        gauge('marketplace_outbox_events', 'Webhooks that are not delivered yet', labelled('state', outbox)),
        gauge('marketplace_outbox_oldest_seconds', 'Age of the oldest of them', [[{}, oldestSeconds]]),
        gauge('marketplace_mails_waiting', 'Mails that are not sent yet', [[{}, mailsWaiting]]),
        gauge('marketplace_ledger_cents', 'Money by kind of account', labelled('kind', ledger)),
        gauge('marketplace_event_loop_lag_seconds', 'Delay of the event loop since the last look', lagOf(lag)),
        gauge('process_resident_memory_bytes', 'Resident memory', [[{}, process.memoryUsage.rss()]]),
      ]
      lag.reset()
      return families.join('')
    },
    close: () => void lag.disable(),
  }
}

const labelled = (name: string, values: Readonly<Record<string, number>>): [Labels, number][] =>
  Object.entries(values).map(([value, number]) => [{ [name]: value }, number])

function lagOf(lag: IntervalHistogram): [Labels, number][] {
  const at = (percent: number) => (lag.count === 0 ? 0 : lag.percentile(percent) / 1e9)
  return [
    [{ quantile: '0.5' }, at(50)],
    [{ quantile: '0.99' }, at(99)],
    [{ quantile: '1' }, lag.count === 0 ? 0 : lag.max / 1e9],
  ]
}

/** Labels are made once for each key. */
class Counter {
  readonly #series = new Map<string, { labels: Labels; value: number }>()

  add(key: string, labels: () => Labels) {
    const known = this.#series.get(key)
    if (known) known.value++
    else this.#series.set(key, { labels: labels(), value: 1 })
  }

  family(name: string, help: string) {
    return family(
      name,
      help,
      'counter',
      [...this.#series.values()].map(({ labels, value }) => line(name, labels, value)),
    )
  }
}

class Histogram {
  readonly #series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>()

  observe(key: string, seconds: number, labels: () => Labels) {
    let known = this.#series.get(key)
    if (!known) {
      known = { labels: labels(), counts: BUCKETS.map(() => 0), sum: 0, count: 0 }
      this.#series.set(key, known)
    }
    known.sum += seconds
    known.count++
    for (let i = BUCKETS.length - 1; i >= 0 && seconds <= BUCKETS[i]!; i--) known.counts[i]!++
  }

  family(name: string, help: string) {
    const lines = [...this.#series.values()].flatMap(({ labels, counts, sum, count }) => [
      ...BUCKETS.map((le, i) => line(`${name}_bucket`, { ...labels, le: String(le) }, counts[i]!)),
      line(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
      line(`${name}_sum`, labels, sum),
      line(`${name}_count`, labels, count),
    ])
    return family(name, help, 'histogram', lines)
  }
}

const gauge = (name: string, help: string, values: readonly (readonly [Labels, number])[]) =>
  family(
    name,
    help,
    'gauge',
    values.map(([labels, value]) => line(name, labels, value)),
  )

const family = (name: string, help: string, type: string, lines: readonly string[]) =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
}

const escaped = (text: string) => text.replace(/[\\"\n]/g, sign => (sign === '\n' ? '\\n' : `\\${sign}`))
