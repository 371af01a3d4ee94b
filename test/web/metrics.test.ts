// engines: embedded, postgres at length; process: shared
/** `/metrics` over the wire: what it counts, and who may see it. Source: A-7, A-40. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import { MIB } from '../../src/market/mebibytes.ts'
import { type Figures, readFigures } from '../../src/market/upkeep/gauges.ts'
import { BusyError, type Db } from '../../src/store/db.ts'
import { createMetrics } from '../../src/web/metrics.ts'
import { inFolder } from '../store/folder.ts'
import { engine } from '../support/databases.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { promProblems } from '../support/prom-problems.ts'
import { promtoolTakes, withPromtool } from '../support/promtool.ts'

const read = async (url: string, authorization?: string) => {
  const reply = await fetch(`${url}/metrics`, authorization ? { headers: { authorization } } : {})
  return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() }
}

const value = (text: string, series: string) => {
  const line = text.split('\n').find(one => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

test('it counts requests by route, webhooks by outcome, the outbox and the money', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const task = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${task.id}/submit`)
  await marketplace.webhooksSent()
  agent.sink.status = 500
  await buyer.call('POST', `/api/tasks/${task.id}/messages`, { content: 'Hello?' })
  await buyer.call('POST', `/api/tasks/${task.id}/messages`, { content: 'Still there?' })
  await marketplace.webhooksSent()
  await marketplace.visitor.ask('GET', '/api/tasks/nobody')
  await marketplace.visitor.ask('POST', '/api/auth/login', { email: 'nobody@example.com', password: 'a guess' })
  await marketplace.visitor.ask('GET', `/no/such/"path"`)
  marketplace.world.advance(marketplace.world.now() + 4_000)
  const { status, type, text } = await read(marketplace.url)
  assert.is(status, 200)
  assert.is(type, 'text/plain; version=0.0.4; charset=utf-8')
  const request = (method: string, route: string, code: number) =>
    value(text, `marketplace_http_requests_total{method="${method}",route="${route}",status="${code}"}`)
  assert.is(request('POST', '/api/tasks/:id/submit', 200), 1)
  assert.is(request('POST', '/api/tasks/:id/messages', 201), 2)
  assert.is(request('GET', '/api/tasks/:id', 401), 1)
  assert.is(request('GET', 'none', 404), 1)
  assert.is(value(text, 'marketplace_http_refusals_total{refusal="no_such_path"}'), 1)
  assert.is(value(text, 'marketplace_http_refusals_total{refusal="not_authenticated"}'), 1)
  const duration = 'marketplace_http_request_duration_seconds'
  const ofMessages = 'method="POST",route="/api/tasks/:id/messages"'
  assert.is(value(text, `${duration}_count{${ofMessages}}`), 2)
  assert.is(value(text, `${duration}_bucket{${ofMessages},le="+Inf"}`), 2)
  assert.ok(value(text, `${duration}_sum{${ofMessages}}`)! > 0)
  assert.is(value(text, 'marketplace_webhook_attempts_total{event="task.submitted",outcome="delivered"}'), 1)
  assert.is(value(text, 'marketplace_webhook_attempts_total{event="task.message",outcome="retry"}'), 1)
  assert.is(value(text, 'marketplace_outbox_events{state="pending"}'), 1)
  assert.is(value(text, 'marketplace_outbox_events{state="waiting"}'), 1)
  assert.is(value(text, 'marketplace_outbox_oldest_seconds'), 4)
  assert.is(value(text, 'marketplace_mails_waiting'), 0)
  assert.is(value(text, 'marketplace_password_hashes_waiting'), 0)
  assert.is(value(text, 'marketplace_sign_ins_total{outcome="unknown_email"}'), 1)
  assert.is(value(text, 'marketplace_ledger_cents{kind="available"}'), 4_000)
  assert.is(value(text, 'marketplace_ledger_cents{kind="held"}'), 1_000)
  assert.is(value(text, 'marketplace_ledger_cents{kind="world"}'), -5_000)
  assert.ok(value(text, 'process_resident_memory_bytes')! > 1_000_000)
  assert.ok(value(text, 'marketplace_event_loop_lag_seconds{at="p99"}')! >= 0)
  for (const id of [task.id, buyer.id, 'such/']) assert.not(text.includes(id), id)
  await marketplace.close()
})

test('the text is as Prometheus wants it: its format, and the rules of promtool for names, types and labels', async () => {
  const marketplace = await openTestMarketplace()
  await marketplace.join('ann', 500)
  const { text } = await read(marketplace.url)
  assert.equal(promProblems(text), [])
  const buckets = [...text.matchAll(/_bucket\{method="POST",route="\/api\/auth\/register",le="[^"]+"\} (\d+)/g)]
  const counts = buckets.map(match => Number(match[1]))
  assert.equal(
    counts,
    counts.toSorted((a, b) => a - b),
  )
  assert.is(counts.at(-1), 1)
  await marketplace.close()
})

withPromtool('promtool itself finds nothing to say of it', async () => {
  const marketplace = await openTestMarketplace()
  await marketplace.join('ann', 500)
  promtoolTakes(['check', 'metrics'], (await read(marketplace.url)).text)
  await marketplace.close()
})

test('what those rules refuse is noticed', () => {
  const family = (name: string, type: string, lines: readonly string[], help = 'Words') =>
    `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.map(line => `${line}\n`).join('')}`
  const bad: [text: string, problem: RegExp][] = [
    [family('lag_seconds', 'gauge', ['lag_seconds{quantile="0.5"} 1']), /quantile/],
    [family('lag_seconds', 'gauge', ['lag_seconds{le="0.5"} 1']), /le/],
    [family('asked', 'counter', ['asked 1']), /_total/],
    [family('asked_total', 'gauge', ['asked_total 1']), /_total/],
    [family('asked_count', 'gauge', ['asked_count 1']), /_count/],
    [family('size_kilobytes', 'gauge', ['size_kilobytes 1']), /base unit/],
    [family('wait_ms', 'gauge', ['wait_ms 1']), /abbreviated/],
    [family('open_gauge', 'gauge', ['open_gauge 1']), /type/],
    [family('openNow', 'gauge', ['openNow 1']), /snake_case/],
    [family('open', 'gauge', ['open{byHost="a"} 1']), /snake_case/],
    [family('open', 'gauge', ['open 1'], ''), /help/],
    [family('open', 'gauge', ['open 1', 'open 2']), /twice/],
    [family('open', 'gauge', ['open 1']) + family('open', 'gauge', []), /twice/],
    [family('open', 'gauge', ['shut 1']), /family/],
    [family('open', 'gauge', ['open one']), /format/],
    [family('open', 'gauge', ['open{a="\\x"} 1']), /format/],
    [family('took_seconds', 'histogram', ['took_seconds_bucket{le="1"} 1', 'took_seconds_sum 1']), /\+Inf/],
    ['# HELP open Words\n# TYPE open gauge\nopen 1', /line end/],
  ]
  for (const [text, problem] of bad) assert.match(promProblems(text).join('\n'), problem, text)
})

test('it tells of the database, of what waits for administrators, and of what runs', async () => {
  const marketplace = await openTestMarketplace({ mode: 'dev', payments: 'manual' })
  const [ann, builder] = [await marketplace.join('ann'), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  await ann.client.deposit({ amount: 700 })
  marketplace.world.advance(marketplace.world.now() + 30_000)
  const { text } = await read(marketplace.url)
  assert.ok(agent)
  assert.is(value(text, 'marketplace_queue_entries{queue="deposits"}'), 1)
  assert.is(value(text, 'marketplace_queue_oldest_seconds{queue="deposits"}'), 30)
  for (const queue of ['agents', 'disputes', 'withdrawals']) {
    assert.is(value(text, `marketplace_queue_entries{queue="${queue}"}`), 0, queue)
    assert.is(value(text, `marketplace_queue_oldest_seconds{queue="${queue}"}`), 0, queue)
  }
  const commits = value(text, 'marketplace_database_commit_seconds_count')!
  assert.is(value(text, 'marketplace_database_wait_seconds_count{unit="write"}'), commits, 'no write has failed')
  assert.is(value(text, 'marketplace_database_commit_seconds_bucket{le="+Inf"}'), commits)
  assert.ok(value(text, 'marketplace_database_wait_seconds_count{unit="read"}')! > 0)
  await ann.client.deposit({ amount: 700 })
  const later = (await read(marketplace.url)).text
  assert.ok(value(later, 'marketplace_database_commit_seconds_count')! > commits)
  const isPostgres = engine === 'postgres'
  assert.is(value(text, 'marketplace_database_connections_limit'), isPostgres ? 10 : undefined)
  if (isPostgres) assert.ok(value(text, 'marketplace_database_connections{state="in_use"}')! >= 1)
  assert.match(text, /^marketplace_build_info\{version="[^"]+",node="v[^"]+",engine="(?:embedded|postgres)"\} 1$/m)
  assert.ok(value(text, 'process_cpu_seconds_total')! > 0)
  assert.ok(value(text, 'process_start_time_seconds')! > 1_600_000_000)
  assert.ok(value(text, 'marketplace_webhook_duration_seconds_count{outcome="delivered"}') === undefined)
  await marketplace.close()
})

test('its figures of queues, of rooms and of what is kept too long are those of the rows', async () => {
  const marketplace = await openTestMarketplace({ mode: 'dev', payments: 'manual' })
  const { market, admin } = marketplace
  const { config } = market
  const [ann, builder] = [await marketplace.join('ann'), await marketplace.join('builder')]
  await marketplace.publish(builder)
  await ann.client.deposit({ amount: 700 })
  for (const [id, bytes] of [
    [ann.id, 5_000],
    [builder.id, 50],
  ] as const)
    await market.db.write(tx => tx.run('INSERT INTO file_usage (user_id, bytes) VALUES ($1, $2)', [id, bytes]))
  marketplace.world.advance(marketplace.world.now() + 30_000)
  const { database, cacheBytes: _, ...figures } = await readFigures(market)
  assert.equal([database.engine, database.waiting], [engine, 0])
  const usage = await admin.client.adminUsage()
  const [fullest] = (await admin.client.adminListUsage({ by: 'texts' })).items
  assert.ok(fullest!.textBytes > 0)
  assert.equal(figures, {
    ...{ outbox: { pending: 0, waiting: 0 }, oldestSeconds: 0, hashesWaiting: 0, fill: usage.database },
    queues: {
      agents: { count: 1, oldestSeconds: 30 },
      disputes: { count: 0, oldestSeconds: 0 },
      deposits: { count: 1, oldestSeconds: 30 },
      withdrawals: { count: 0, oldestSeconds: 0 },
      mails: { count: 0, oldestSeconds: 0 },
    },
    ledger: { available: 0, clearing: 0, held: 0, payouts: 0, platform: 0, world: 0 },
    overdueSeconds: {
      sessions: 30 - durations.session.absoluteMs / 1000,
      // By real time, which stands still here; they are kept for a ms more.
      seen_signatures: -(durations.seenSignatureMs + 1) / 1000,
    },
    fileBytes: { most: 5_000, quota: config.keeping.fileMiB * MIB, all: 5_050, limit: usage.files.limit },
    textBytes: { most: fullest!.textBytes, quota: config.keeping.textMiB * MIB },
  })
  await marketplace.close()
})

test('each figure has its name', () => {
  let last = 0
  const next = () => ++last
  const figures: Figures = {
    outbox: { pending: next(), waiting: next() },
    oldestSeconds: next(),
    queues: {
      agents: { count: next(), oldestSeconds: next() },
      disputes: { count: next(), oldestSeconds: next() },
      deposits: { count: next(), oldestSeconds: next() },
      withdrawals: { count: next(), oldestSeconds: next() },
      mails: { count: next(), oldestSeconds: next() },
    },
    database: {
      ...{ engine: 'embedded', waiting: next(), connections: { in_use: next(), idle: next(), most: next() } },
      journal: { bytes: next(), batches: next(), snapshots: next(), snapshotBytes: next() },
    },
    fill: { bytes: next(), limit: next() },
    ledger: { held: next() },
    overdueSeconds: { mails: next() },
    fileBytes: { most: next(), quota: next(), all: next(), limit: next() },
    textBytes: { most: next(), quota: next() },
    cacheBytes: { pages: next() },
    hashesWaiting: next(),
  }
  const metrics = createMetrics()
  metrics.watch(() => ({
    ...{ connections: next(), unreadBytes: next(), arrivingBytes: next(), arrivingFileBytes: next() },
    ...{ turnsWaiting: next(), flows: next() },
  }))
  const text = metrics.text(figures)
  metrics.close()
  const lines = text.split('\n').filter(line => /^marketplace/.test(line) && !/build_info|loop_lag/.test(line))
  assert.equal(lines, [
    'marketplace_http_connections 34',
    'marketplace_http_unread_bytes 35',
    'marketplace_http_arriving_bytes 36',
    'marketplace_http_arriving_file_bytes 37',
    'marketplace_http_turns_waiting 38',
    'marketplace_http_flows 39',
    'marketplace_outbox_events{state="pending"} 1',
    'marketplace_outbox_events{state="waiting"} 2',
    'marketplace_outbox_oldest_seconds 3',
    'marketplace_mails_waiting 12',
    'marketplace_queue_entries{queue="agents"} 4',
    'marketplace_queue_entries{queue="disputes"} 6',
    'marketplace_queue_entries{queue="deposits"} 8',
    'marketplace_queue_entries{queue="withdrawals"} 10',
    'marketplace_queue_oldest_seconds{queue="agents"} 5',
    'marketplace_queue_oldest_seconds{queue="disputes"} 7',
    'marketplace_queue_oldest_seconds{queue="deposits"} 9',
    'marketplace_queue_oldest_seconds{queue="withdrawals"} 11',
    'marketplace_database_waiting 14',
    'marketplace_database_connections{state="in_use"} 15',
    'marketplace_database_connections{state="idle"} 16',
    'marketplace_database_connections_limit 17',
    'marketplace_database_bytes 22',
    'marketplace_database_limit_bytes 23',
    'marketplace_journal_bytes 18',
    'marketplace_journal_syncs_total 19',
    'marketplace_snapshots_total 20',
    'marketplace_snapshot_bytes 21',
    'marketplace_ledger_cents{kind="held"} 24',
    'marketplace_retention_overdue_seconds{kept="mails"} 25',
    'marketplace_account_file_bytes 26',
    'marketplace_account_file_bytes_quota 27',
    'marketplace_account_text_bytes 30',
    'marketplace_account_text_bytes_quota 31',
    'marketplace_file_bytes 28',
    'marketplace_file_limit_bytes 29',
    'marketplace_cache_bytes{cache="pages"} 32',
    'marketplace_password_hashes_waiting 33',
  ])
})

test('each attempt at a webhook is in the histogram of its outcome, whose sum and buckets fit', async () => {
  const marketplace = await openTestMarketplace()
  const [buyer, builder] = [await marketplace.join('buyer', 5_000), await marketplace.join('builder')]
  const agent = await marketplace.list(builder)
  const hire = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
  }
  const counts = async (...outcomes: readonly string[]) => {
    const { text } = await read(marketplace.url)
    assert.equal(promProblems(text), [])
    return outcomes.map(outcome => value(text, `marketplace_webhook_duration_seconds_count{outcome="${outcome}"}`))
  }
  await hire()
  await hire()
  await until('both', async () => (await counts('delivered'))[0] === 2)
  agent.sink.status = 500
  await hire()
  await until('the third', async () => (await counts('retry'))[0] === 1)
  assert.equal(await counts('delivered', 'retry', 'failed'), [2, 1, undefined])
  await marketplace.close()
})

test('units that run again, and those that the database fails, are counted', async () => {
  const marketplace = await openTestMarketplace()
  const { db } = marketplace.market
  const before = (await read(marketplace.url)).text
  await db.write(() => Promise.reject(new BusyError('a test'))).catch(() => {})
  await db.read(() => Promise.reject(new Error('no fault of the database'))).catch(() => {})
  const after = (await read(marketplace.url)).text
  assert.is(value(after, 'marketplace_database_failures_total{error="BusyError"}'), 1)
  assert.is(after.match(/^marketplace_database_failures_total\{/gm)!.length, 1)
  const retries = 'marketplace_database_retries_total'
  assert.is(value(before, retries), 0)
  if (engine === 'postgres') {
    const conflicts = await conflicting(db)
    assert.is(value((await read(marketplace.url)).text, retries), conflicts)
  }
  await marketplace.close()
})

/** A unit that Postgres asks to run again. Returns how often it did. */
async function conflicting(db: Db): Promise<number> {
  let runs = 0
  await db.write(async tx => {
    runs++
    if (runs < 3) throw Object.assign(new Error('could not serialize access'), { code: '40001' })
    await tx.get('SELECT 1 AS one')
  })
  return runs - 1
}

test(
  'a database file tells of its journal and its snapshots',
  inFolder(async file => {
    if (engine === 'postgres') return
    const marketplace = await openTestMarketplace({ file })
    await marketplace.join('ann', 500)
    const { text } = await read(marketplace.url)
    assert.ok(value(text, 'marketplace_journal_bytes')! > 1_000)
    assert.ok(value(text, 'marketplace_journal_syncs_total')! > 1)
    assert.is(value(text, 'marketplace_snapshots_total'), 0)
    await marketplace.close()
  }),
)

test('a deployment shows it to the token alone, or on a port of this machine', async () => {
  const token = 'a-token-of-this-test'
  const marketplace = await openTestMarketplace({
    mode: 'serve',
    rateLimits: 'off',
    payments: 'sandbox',
    metricsToken: token,
  })
  assert.is((await read(marketplace.url)).status, 404)
  for (const wrong of ['Bearer', `Bearer ${token}x`, `Basic ${token}`, `Bearer ${token.slice(0, -1)}`, token])
    assert.is((await read(marketplace.url, wrong)).status, 404, wrong)
  const open = await read(marketplace.url, `Bearer ${token}`)
  assert.is(open.status, 200)
  assert.match(open.text, 'marketplace_ledger_cents')
  assert.is(marketplace.metricsPort, null)
  await marketplace.close()

  const apart = await openTestMarketplace({ mode: 'serve', rateLimits: 'strict', metricsPort: 0 })
  const own = `http://127.0.0.1:${apart.metricsPort}`
  assert.is((await read(apart.url)).status, 404)
  assert.is((await read(apart.url, 'Bearer ')).status, 404)
  for (let i = 0; i < 110; i++) await read(apart.url)
  assert.is((await fetch(`${apart.url}/api/categories`)).status, 200) // metrics are exempt from the rate limits
  assert.is((await read(own)).status, 200)
  assert.is((await fetch(`${own}/api/categories`)).status, 404)
  assert.is((await fetch(`${own}/metrics`, { method: 'POST' })).status, 404)
  await apart.close()
  assert.is(
    await fetch(own).then(
      () => 'open',
      () => 'closed',
    ),
    'closed',
  )
})

test.run()
