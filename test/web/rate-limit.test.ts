// engines: embedded, postgres at length; process: shared
/** Rate limits over real HTTP; a proxy in front tells the addresses apart, time passes only when told. Source: A-40. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { refuse } from '../../src/api/failures.ts'
import { rates } from '../../src/api/limits.ts'
import type { LogEntry } from '../../src/market/log.ts'
import type { Method } from '../../src/sim/http-user.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { sameNames } from '../support/same-names.ts'

const MINUTE = 60
const HOUR = 3600

type Row = readonly [category: string, limit: number, seconds: number, method: Method, path: string, type?: string]

const form = 'multipart/form-data; boundary=x'

const rows: readonly Row[] = [
  ['general', 100, MINUTE, 'GET', '/api/categories'],
  ['authentication', 5, MINUTE, 'POST', '/api/auth/login'],
  ['registration', 3, HOUR, 'POST', '/api/auth/register'],
  ['password_reset', 3, HOUR, 'POST', '/api/auth/password-reset'],
  ['webhooks', 50, MINUTE, 'POST', '/api/agent/tasks/task_1/accept'],
  ['file_upload', 20, MINUTE, 'POST', '/api/agent/tasks/task_1/deliver', form],
  ['search', 30, MINUTE, 'GET', '/api/agents'],
  ['task_creation', 10, HOUR, 'POST', '/api/tasks'],
  ['task_submission', 5, HOUR, 'POST', '/api/tasks/task_1/submit'],
]

const others: readonly (readonly [category: string, method: Method, path: string, type?: string])[] = [
  ['authentication', 'POST', '/api/auth/password'],
  ['password_reset', 'POST', '/api/auth/password-reset/confirm'],
  ['general', 'POST', '/api/auth/logout'],
  ['general', 'GET', '/api/auth/me'],
  ['general', 'GET', '/api/agents/agt_1'],
  ['general', 'GET', '/api/tasks'],
  ['general', 'GET', '/api/tasks/task_1'],
  ['general', 'POST', '/api/tasks/task_1/cancel'],
  ['general', 'POST', '/api/tasks/task_1/deliver'],
  ['general', 'POST', '/api/tasks/task_1/deliver', form],
  ['webhooks', 'POST', '/api/agent/tasks/task_1/reject'],
  ['webhooks', 'POST', '/api/agent/tasks/task_1/deliver'],
  ['webhooks', 'POST', '/api/agent/tasks/task_1/callback'],
  ['webhooks', 'POST', '/api/agent/tasks/task_1/callback', form],
  ['webhooks', 'POST', '/api/agent/test/chk_1/callback'],
  ['webhooks', 'POST', '/api/my/agents/agt_1/test-connection'],
  ['webhooks', 'POST', '/api/my/agents/agt_1/test-connection', form],
  ['general', 'GET', '/api/nothing'],
  ['general', 'DELETE', '/api/agents'],
  ['general', 'DELETE', '/api/tasks/task_1/submit'],
]

test('every category is tried', () => {
  sameNames(
    rows.map(([category]) => category),
    Object.keys(rates),
  )
})

const open = () => openTestMarketplace({ rateLimits: 'strict', trustProxy: 1 })

test('exactly N requests pass in each category, the next is 429, and a window later all is free again', async () => {
  const marketplace = await open()
  for (const [category, limit, seconds, method, path, type] of rows) {
    const headers = { 'x-forwarded-for': '198.51.100.7', 'content-type': type ?? 'application/json' }
    const ask = () => marketplace.visitor.ask(method, path, method === 'GET' ? undefined : '', 'nobody', headers)
    for (let left = limit - 1; left >= 0; left--) {
      const { status, headers } = await ask()
      assert.is.not(status, 429, `${category}, ${left} left`)
      assert.is(headers.get('ratelimit-policy'), `"${category}";q=${limit};w=${seconds}`)
      assert.is(headers.get('ratelimit'), `"${category}";r=${left};t=${seconds}`)
    }
    marketplace.world.advance(marketplace.world.now() + 1)
    const refused = await ask()
    assert.is(refused.status, 429, category)
    assert.is(refused.success, false)
    assert.match(refused.error!, `${seconds} s`)
    assert.is(refused.headers.get('retry-after'), String(seconds))
    assert.is(refused.headers.get('ratelimit'), `"${category}";r=0;t=${seconds}`)
    marketplace.world.advance(marketplace.world.now() + seconds * 1000 - 2)
    const last = await ask()
    assert.is(last.status, 429, category)
    assert.is(last.headers.get('retry-after'), '1')
    marketplace.world.advance(marketplace.world.now() + 1)
    const free = await ask()
    assert.is.not(free.status, 429, category)
    assert.is(free.headers.get('ratelimit'), `"${category}";r=${limit - 1};t=${seconds}`)
  }
  await marketplace.close()
})

test('each request is of one category, also one that nothing answers', async () => {
  const marketplace = await open()
  for (const [category, method, path, type] of others) {
    const headers = { 'x-forwarded-for': '198.51.100.9', 'content-type': type ?? 'application/json' }
    const answer = await marketplace.visitor.ask(method, path, method === 'GET' ? undefined : '', 'nobody', headers)
    assert.match(answer.headers.get('ratelimit')!, `"${category}";`, `${method} ${path} ${type ?? ''}`)
  }
  await marketplace.close()
})

test('one category used up leaves the others and other addresses alone; health is never limited', async () => {
  const marketplace = await open()
  const from = (address: string, path: string) =>
    fetch(marketplace.url + path, { headers: { 'x-forwarded-for': address } }).then(
      async ({ status, headers, text }) => ({
        status,
        headers,
        text,
      }),
    )
  for (let i = 0; i < 60; i++) await from('198.51.100.1', '/api/categories')
  for (let i = 0; i < 40; i++) await from('198.51.100.1', '/api/nothing')
  assert.is((await from('198.51.100.1', '/api/categories')).status, 429)
  assert.is((await from('198.51.100.1', '/api/nothing')).status, 429)
  for (const [accept, type] of [
    ['text/html,*/*', /^text\/html/],
    ['*/*', /^application\/json/],
  ] as const) {
    const headers = { 'x-forwarded-for': '198.51.100.1', accept }
    const page = await fetch(`${marketplace.url}/console`, { headers })
    assert.is(page.status, 429)
    assert.match(page.headers.get('content-type')!, type)
    assert.match(await page.text(), 'Too many requests')
  }
  assert.is((await from('198.51.100.1', '/api/agents')).status, 200)
  assert.is((await from('198.51.100.2', '/api/categories')).status, 200)
  for (let i = 0; i < 101; i++) {
    const { status, headers } = await from('198.51.100.1', i % 2 ? '/healthz' : '/readyz')
    assert.is(status, 200)
    assert.is(headers.get('ratelimit'), null)
  }
  await marketplace.close()
})

test('a refused request changes nothing', async () => {
  const marketplace = await open()
  const builder = await marketplace.join('builder')
  const agent = await marketplace.list(builder)
  const buyer = await marketplace.join('buyer', 20_000)
  const tasks: string[] = []
  for (let i = 0; i < 10; i++) tasks.push((await marketplace.draft(buyer, agent)).id)
  let before = await marketplace.contents()
  const eleventh = await buyer.ask('POST', '/api/tasks', { ...taskFields, agentId: agent.id })
  assert.is(eleventh.status, 429)
  assert.equal(await marketplace.contents(), before)
  for (const id of tasks.slice(0, 5)) await buyer.call('POST', `/api/tasks/${id}/submit`)
  before = await marketplace.contents()
  assert.is((await buyer.ask('POST', `/api/tasks/${tasks[5]}/submit`)).status, 429)
  assert.equal(await marketplace.contents(), before)
  await marketplace.pass(HOUR * 1000)
  assert.is((await buyer.ask('POST', `/api/tasks/${tasks[5]}/submit`)).status, 200)
  await marketplace.close()
})

test('what a client claims about its address counts only behind a proxy, and only as far as the proxies go', async () => {
  const direct = await openTestMarketplace({ rateLimits: 'strict' })
  const statuses = new Map<number, number>()
  for (let i = 0; i < 200; i++) {
    const headers = { 'x-forwarded-for': `203.0.113.${i}`, forwarded: `for=203.0.113.${i}`, 'x-real-ip': `1.1.1.${i}` }
    const { status } = await fetch(`${direct.url}/api/agents`, { headers })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  assert.equal([...statuses].sort(), [
    [200, 30],
    [429, 170],
  ])
  await direct.close()
  const proxied = await open()
  const policy = async (forwarded: string) => {
    const { headers } = await fetch(`${proxied.url}/api/agents`, { headers: { 'x-forwarded-for': forwarded } })
    return headers.get('ratelimit')!.match(/r=(\d+)/)![1]
  }
  assert.is(await policy('203.0.113.1'), '29')
  assert.is(await policy('1.1.1.1, 203.0.113.1'), '28')
  assert.is(await policy('2.2.2.2, 1.1.1.1,203.0.113.1'), '27')
  assert.is(await policy('203.0.113.2'), '29')
  await proxied.close()
})

test('warn refuses nobody, and says once a window who would have been', async () => {
  const log: LogEntry[] = []
  const marketplace = await openTestMarketplace({ rateLimits: 'warn', log: happening => log.push(happening) })
  for (let i = 0; i < 35; i++) {
    const { status, headers } = await marketplace.visitor.ask('GET', '/api/agents')
    assert.is(status, 200)
    assert.match(headers.get('ratelimit')!, `r=${Math.max(0, 29 - i)};`)
  }
  const lines = log.filter(({ type }) => type === 'warning').map(line => 'message' in line && line.message)
  assert.equal(lines, ['127.0.0.1 is over the limit of 30 search requests in 60 s'])
  await marketplace.close()
})

test('off has neither limits nor headers', async () => {
  const marketplace = await openTestMarketplace()
  for (let i = 0; i < 35; i++) {
    const { status, headers } = await marketplace.visitor.ask('GET', '/api/agents')
    assert.is(status, 200)
    assert.is(headers.get('ratelimit-policy'), null)
  }
  await marketplace.close()
})

test('a refusal names no place in the code, as finding it costs a tenth of one; an error made after it does', () => {
  assert.not.match(refuse('rate_limited', 1).stack!, '    at ')
  assert.match(new Error('any').stack!, '    at ')
})

test.run()
