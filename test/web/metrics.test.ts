// engines: embedded, postgres at length; process: shared
/** `/metrics` over the wire: what it counts, and who may see it. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace } from '../support/marketplace.ts'

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
  assert.ok(value(text, 'marketplace_event_loop_lag_seconds{quantile="0.99"}')! >= 0)
  for (const id of [task.id, buyer.id, 'such/']) assert.not(text.includes(id), id)
  await marketplace.close()
})

test('every line is in the exposition format, and every family says its type once', async () => {
  const marketplace = await openTestMarketplace()
  await marketplace.join('ann', 500)
  const { text } = await read(marketplace.url)
  const label = '[a-z_]+="(?:[^"\\\\\\n]|\\\\["\\\\n])*"'
  const sample = new RegExp(`^([a-z_]+)(?:\\{${label}(?:,${label})*\\})? (?:-?\\d+(?:\\.\\d+)?(?:e-?\\d+)?)$`)
  const types = new Map<string, string>()
  const seen = new Set<string>()
  assert.ok(text.endsWith('\n'))
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line)
    if (type) {
      assert.not(types.has(type[1]!), line)
      types.set(type[1]!, type[2]!)
    } else if (!line.startsWith('# HELP ')) {
      const name = sample.exec(line)?.[1]
      assert.ok(name, line)
      assert.ok(types.has(name!) || types.get(name!.replace(/_(?:bucket|sum|count)$/, '')) === 'histogram', line)
      const series = line.slice(0, line.lastIndexOf(' '))
      assert.not(seen.has(series), series)
      seen.add(series)
    }
  }
  const buckets = [...text.matchAll(/_bucket\{method="POST",route="\/api\/auth\/register",le="[^"]+"\} (\d+)/g)]
  const counts = buckets.map(match => Number(match[1]))
  assert.equal(
    counts,
    counts.toSorted((a, b) => a - b),
  )
  assert.is(counts.at(-1), 1)
  await marketplace.close()
})

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
