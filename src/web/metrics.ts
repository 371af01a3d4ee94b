/** Metrics in the format of Prometheus. They are counted from log entries, so no other code counts. Source: A-7. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Log, LogEntry } from '../market/log.ts'
import type { Figures } from '../market/upkeep/gauges.ts'

export interface Metrics {
  /** A log that counts what it passes on. */
  tap(log: Log): Log
  text(figures: Figures): string
  /** `open` is called each time the text is made. */
  watch(open: () => Watched): void
  close(): void
}

export interface Watched {
  readonly connections: number
  /** Bytes of large responses that clients have not read yet. */
  readonly unreadBytes: number
  /** Bytes of large bodies that have not ended yet. */
  readonly arrivingBytes: number
  /** Bytes of files on the disk whose uploads go on. */
  readonly arrivingFileBytes: number
  /** Requests that wait for their turn. */
  readonly turnsWaiting: number
  /** Accounts and addresses that have had turns of late. */
  readonly flows: number
}

type Labels = Readonly<Record<string, string>>

/** The exposition format 0.0.4. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const NOTHING: Watched = {
  connections: 0,
  unreadBytes: 0,
  arrivingBytes: 0,
  arrivingFileBytes: 0,
  turnsWaiting: 0,
  flows: 0,
}

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function createMetrics(): Metrics {
  const counters = createCounters()
  let watched = (): Watched => NOTHING
  const lag = monitorEventLoopDelay({ resolution: 20 })
  lag.enable()

  return {
    tap: log => what => {
      counters.count(what)
      log(what)
    },
    watch(open) {
      watched = open
    },
    text(figures) {
      const text = familiesOf(counters, watched(), figures, lag).join('')
      lag.reset()
      return text
    },
    close: () => void lag.disable(),
  }
}

type Counters = ReturnType<typeof createCounters>

/** What the log tells, counted. */
function createCounters() {
  const requests = new Counter()
  const refusals = new Counter()
  const durations = new Histogram()
  const webhooks = new Counter()
  const mails = new Counter()
  const signIns = new Counter()
  const cuts = new Counter()
  return {
    ...{ requests, refusals, durations, webhooks, mails, signIns, cuts },
    count(what: LogEntry) {
      if (what.type === 'request') {
        const { method, status, refusal } = what
        if (refusal) refusals.add(refusal, () => ({ refusal }))
        const route = what.route ?? 'none'
        requests.add(`${method} ${status} ${route}`, () => ({ method, route, status: String(status) }))
        durations.observe(`${method} ${route}`, what.ms / 1000, () => ({ method, route }))
      } else if (what.type === 'webhook') {
        const { event, outcome } = what
        webhooks.add(`${event} ${outcome}`, () => ({ event, outcome }))
      } else if (what.type === 'sign_in') {
        const { outcome } = what
        signIns.add(outcome, () => ({ outcome }))
      } else if (what.type === 'cut_off') {
        const { reason } = what
        cuts.add(reason, () => ({ reason }))
      } else if (what.type === 'mail') {
        const { kind, outcome } = what
        mails.add(`${kind} ${outcome}`, () => ({ kind, outcome }))
      }
    },
  }
}

function familiesOf(counters: Counters, watched: Watched, figures: Figures, lag: IntervalHistogram): string[] {
  const { cuts, requests, refusals, durations, webhooks, mails, signIns } = counters
  const { connections, unreadBytes, arrivingBytes, arrivingFileBytes, turnsWaiting, flows } = watched
  const { outbox, oldestSeconds, mailsWaiting, fill, ledger, overdueSeconds } = figures
  const { fileBytes, textBytes, cacheBytes, hashesWaiting } = figures
  return [
    gauge('marketplace_http_connections', 'Open connections', [[{}, connections]]),
    gauge('marketplace_http_unread_bytes', 'Large answers that wait for their readers', [[{}, unreadBytes]]),
    gauge('marketplace_http_arriving_bytes', 'Large bodies that are still on their way', [[{}, arrivingBytes]]),
    gauge('marketplace_http_arriving_file_bytes', 'Files on the disk whose uploads go on', [[{}, arrivingFileBytes]]),
    gauge('marketplace_http_turns_waiting', 'Requests that wait for their turn', [[{}, turnsWaiting]]),
    gauge('marketplace_http_flows', 'Accounts and addresses between whom turns are shared now', [[{}, flows]]),
    cuts.family('marketplace_http_cut_off_total', 'Connections ended for the sake of others, by reason'),
    requests.family('marketplace_http_requests_total', 'Requests by route and status'),
    refusals.family('marketplace_http_refusals_total', 'Refused requests, by name'),
    durations.family('marketplace_http_request_duration_seconds', 'Time from arrival to answer'),
    webhooks.family('marketplace_webhook_attempts_total', 'Attempts to deliver a webhook, by outcome'),
    mails.family('marketplace_mails_total', 'Attempts to send a mail, by outcome'),
    gauge('marketplace_outbox_events', 'Webhooks that are not delivered yet', labelled('state', outbox)),
    gauge('marketplace_outbox_oldest_seconds', 'Age of the oldest of them', [[{}, oldestSeconds]]),
    signIns.family('marketplace_sign_ins_total', 'Attempts to sign in, by outcome'),
    gauge('marketplace_mails_waiting', 'Mails that are not sent yet', [[{}, mailsWaiting]]),
    gauge('marketplace_password_hashes_waiting', 'Passwords that wait to be hashed', [[{}, hashesWaiting]]),
    ...(fill ? gaugesOf(fill) : []),
    gauge('marketplace_ledger_cents', 'Money by kind of account', labelled('kind', ledger)),
    gauge(
      'marketplace_retention_overdue_seconds',
      'Of the oldest row, since its time was over; negative while it has time left',
      labelled('kept', overdueSeconds),
    ),
    gauge('marketplace_account_file_bytes', 'Files of the account that has most', [[{}, fileBytes.most]]),
    gauge('marketplace_account_file_bytes_quota', 'Files that one account may have', [[{}, fileBytes.quota]]),
    gauge('marketplace_account_text_bytes', 'Texts of the account that has most', [[{}, textBytes.most]]),
    gauge('marketplace_account_text_bytes_quota', 'Texts that one account may have', [[{}, textBytes.quota]]),
    gauge('marketplace_file_bytes', 'Files of all accounts', [[{}, fileBytes.all]]),
    gauge('marketplace_file_limit_bytes', 'Files that all accounts may have together', [[{}, fileBytes.limit]]),
    gauge('marketplace_cache_bytes', 'Kept in memory of the public list, by kind', labelled('cache', cacheBytes)),
    gauge('marketplace_event_loop_lag_seconds', 'Delay of the event loop since the last look', lagOf(lag)),
    gauge('process_resident_memory_bytes', 'Resident memory', [[{}, process.memoryUsage.rss()]]),
  ]
}

const gaugesOf = ({ bytes, limit }: NonNullable<Figures['fill']>) => [
  gauge('marketplace_database_bytes', 'What the database takes, where it has a limit', [[{}, bytes]]),
  gauge('marketplace_database_limit_bytes', 'From so many bytes on nothing new is accepted', [[{}, limit]]),
]

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

/** A counter with labels, which are made once for each key. */
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
