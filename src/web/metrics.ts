/** What Prometheus reads: counted from log entries and from the units of the database, or read when it asks. Source: A-7. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Log, LogEntry } from '../market/log.ts'
import type { Figures } from '../market/upkeep/gauges.ts'
import { version } from '../settings/config.ts'
import type { UnitReport } from '../store/db.ts'
import { Counter, counter, gauge, Histogram, labelled } from './exposition.ts'

export interface Metrics {
  /** A log that counts what it passes on. */
  tap(log: Log): Log
  /** Counts a unit of the database. */
  unit(report: UnitReport): void
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

const NOTHING: Watched = {
  connections: 0,
  unreadBytes: 0,
  arrivingBytes: 0,
  arrivingFileBytes: 0,
  turnsWaiting: 0,
  flows: 0,
}

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
    unit: counters.unit,
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
  const webhookDurations = new Histogram()
  const commits = new Histogram()
  const waits = new Histogram()
  const failures = new Counter()
  const retries = new Counter()
  const mails = new Counter()
  const signIns = new Counter()
  const cuts = new Counter()
  return {
    ...{ requests, refusals, durations, webhooks, webhookDurations, commits, waits, failures, retries },
    ...{ mails, signIns, cuts },
    unit({ unit, waitMs, commitMs, runs, fault }: UnitReport) {
      waits.observe(unit, waitMs / 1000, () => ({ unit }))
      if (commitMs !== null && unit === 'write') commits.observe('', commitMs / 1000, () => ({}))
      retries.add('', () => ({}), Math.max(0, runs - 1))
      if (fault !== null) failures.add(fault, () => ({ error: fault }))
    },
    count(what: LogEntry) {
      if (what.type === 'request') {
        const { method, status, refusal } = what
        if (refusal) refusals.add(refusal, () => ({ refusal }))
        const route = what.route ?? 'none'
        requests.add(`${method} ${status} ${route}`, () => ({ method, route, status: String(status) }))
        durations.observe(`${method} ${route}`, what.ms / 1000, () => ({ method, route }))
      } else if (what.type === 'webhook') {
        const { event, outcome, ms } = what
        webhooks.add(`${event} ${outcome}`, () => ({ event, outcome }))
        webhookDurations.observe(outcome, ms / 1000, () => ({ outcome }))
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

/** Every family is told of, also where it has no values: what can be asked for does not depend on the engine. */
function familiesOf(counters: Counters, watched: Watched, figures: Figures, lag: IntervalHistogram): string[] {
  return [
    ...ofRequests(counters, watched),
    ...ofWebhooks(counters, figures),
    ...ofDatabase(counters, figures),
    ...ofRoom(figures),
    ...ofProcess(figures, lag),
  ]
}

function ofRequests({ cuts, requests, refusals, durations, signIns }: Counters, watched: Watched): string[] {
  return [
    gauge('marketplace_http_connections', 'Open connections', watched.connections),
    gauge('marketplace_http_unread_bytes', 'Large answers that wait for their readers', watched.unreadBytes),
    gauge('marketplace_http_arriving_bytes', 'Large bodies that are still on their way', watched.arrivingBytes),
    gauge('marketplace_http_arriving_file_bytes', 'Files on the disk whose uploads go on', watched.arrivingFileBytes),
    gauge('marketplace_http_turns_waiting', 'Requests that wait for their turn', watched.turnsWaiting),
    gauge('marketplace_http_flows', 'Accounts and addresses between whom turns are shared now', watched.flows),
    cuts.family('marketplace_http_cut_off_total', 'Connections ended for the sake of others, by reason'),
    requests.family('marketplace_http_requests_total', 'Requests by route and status'),
    refusals.family('marketplace_http_refusals_total', 'Refused requests, by name'),
    durations.family('marketplace_http_request_duration_seconds', 'Time from arrival to answer'),
    signIns.family('marketplace_sign_ins_total', 'Attempts to sign in, by outcome'),
  ]
}

function ofWebhooks({ webhooks, webhookDurations, mails }: Counters, figures: Figures): string[] {
  const { outbox, oldestSeconds, queues } = figures
  const { mails: waiting, ...ofOperator } = queues
  const counts = Object.entries(ofOperator).map(([queue, { count }]) => [{ queue }, count] as const)
  const ages = Object.entries(ofOperator).map(([queue, { oldestSeconds }]) => [{ queue }, oldestSeconds] as const)
  return [
    webhooks.family('marketplace_webhook_attempts_total', 'Attempts to deliver a webhook, by outcome'),
    webhookDurations.family('marketplace_webhook_duration_seconds', 'Time of one attempt, from name look-up to answer'),
    gauge('marketplace_outbox_events', 'Webhooks that are not delivered yet', labelled('state', outbox)),
    gauge('marketplace_outbox_oldest_seconds', 'Age of the oldest of them', oldestSeconds),
    mails.family('marketplace_mails_total', 'Attempts to send a mail, by outcome'),
    gauge('marketplace_mails_waiting', 'Mails that are not sent yet', waiting.count),
    gauge('marketplace_queue_entries', 'What waits for an administrator, by queue', counts),
    gauge('marketplace_queue_oldest_seconds', 'How long the oldest entry has waited; 0 if there is none', ages),
  ]
}

function ofDatabase({ commits, waits, retries, failures }: Counters, { database, ledger, fill }: Figures): string[] {
  const { waiting, connections, journal } = database
  const { most, ...states } = connections ?? {}
  return [
    gauge('marketplace_database_waiting', 'Units that wait to run or for the disk', waiting),
    waits.family('marketplace_database_wait_seconds', 'Time until a unit runs'),
    commits.family('marketplace_database_commit_seconds', 'Time from the end of a write until it is durable'),
    retries.family('marketplace_database_retries_total', 'Runs of units besides their first'),
    failures.family('marketplace_database_failures_total', 'Units that the database has failed, by error'),
    gauge('marketplace_database_connections', 'Connections of this process to Postgres', labelled('state', states)),
    gauge('marketplace_database_connections_limit', 'How many it opens at most', most),
    gauge('marketplace_database_bytes', 'What the database takes, where it has a limit', fill?.bytes),
    gauge('marketplace_database_limit_bytes', 'From so many bytes on nothing new is accepted', fill?.limit),
    gauge('marketplace_journal_bytes', 'The journal of a database file', journal?.bytes),
    counter('marketplace_journal_syncs_total', 'Batches of commits that were made durable', journal?.batches),
    counter('marketplace_snapshots_total', 'Snapshots of a database file', journal?.snapshots),
    gauge('marketplace_snapshot_bytes', 'The last of them', journal?.snapshotBytes),
    gauge('marketplace_ledger_cents', 'Money by kind of account', labelled('kind', ledger)),
  ]
}

function ofRoom({ overdueSeconds, fileBytes, textBytes, cacheBytes }: Figures): string[] {
  return [
    gauge(
      'marketplace_retention_overdue_seconds',
      'Of the oldest row, since its time was over; negative while it has time left',
      labelled('kept', overdueSeconds),
    ),
    gauge('marketplace_account_file_bytes', 'Files of the account that has most', fileBytes.most),
    gauge('marketplace_account_file_bytes_quota', 'Files that one account may have', fileBytes.quota),
    gauge('marketplace_account_text_bytes', 'Texts of the account that has most', textBytes.most),
    gauge('marketplace_account_text_bytes_quota', 'Texts that one account may have', textBytes.quota),
    gauge('marketplace_file_bytes', 'Files of all accounts', fileBytes.all),
    gauge('marketplace_file_limit_bytes', 'Files that all accounts may have together', fileBytes.limit),
    gauge('marketplace_cache_bytes', 'Kept in memory of the public list, by kind', labelled('cache', cacheBytes)),
  ]
}

function ofProcess({ database, hashesWaiting }: Figures, lag: IntervalHistogram): string[] {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  const build = { version, node: process.version, engine: database.engine }
  return [
    gauge('marketplace_build_info', 'What runs here', [[build, 1]]),
    gauge('marketplace_password_hashes_waiting', 'Passwords that wait to be hashed', hashesWaiting),
    gauge('marketplace_event_loop_lag_seconds', 'Delay of the event loop since the last look', lagOf(lag)),
    counter('process_cpu_seconds_total', 'Time on a processor', (user + system) / 1e6),
    gauge('process_start_time_seconds', 'Since 1970', performance.timeOrigin / 1000),
    gauge('process_resident_memory_bytes', 'Resident memory', rss),
    gauge('process_heap_bytes', 'Of it what JavaScript uses', heapUsed),
  ]
}

/** A label `quantile` would make a summary of it, which sums what has been; this is what was seen since the last look. */
function lagOf(lag: IntervalHistogram) {
  const seen = lag.count > 0
  const [median, p99, most] = [lag.percentile(50), lag.percentile(99), lag.max].map(ns => (seen ? ns / 1e9 : 0))
  return labelled('at', { median: median!, p99: p99!, most: most! })
}
