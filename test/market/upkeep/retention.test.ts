// engines: embedded, postgres and narrow at length; process: shared
/** Everything that grows has a bound: a time that it is kept, a quota of its account, or what it hangs on. Source: A-49. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultKeeping, durations, keptResponseBytes } from '../../../src/api/limits.ts'
import type { DeliveryDetails, DeliveryRecord, NotificationRecord } from '../../../src/api/records.ts'
import { notify } from '../../../src/market/accounts/notifications.ts'
import { keptSince, removeOld } from '../../../src/market/upkeep/retention.ts'
import type { Value } from '../../../src/store/db.ts'
import { insertMail, insertNotice } from '../../../src/store/tables/accounts/mails.ts'
import { keptKinds } from '../../../src/store/tables/upkeep/retention.ts'
import { answered } from '../../../src/world/virtual.ts'
import { engine, isNarrow } from '../../support/databases.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'
import { sameNames } from '../../support/same-names.ts'

const DAY = durations.dayMs

/** Why a table can't grow without end. `kept`: for a time alone, which the tests below hold. */
const bounds: Readonly<Record<string, string>> = {
  accounts: 'three for each user',
  agent_categories: 'four for each agent: limits.agent.categories',
  agent_reports: 'seven of each kind for each agent: limits.agent.reports',
  agent_terms: 'of listed agents alone, 500 words each: market/search',
  agent_tests: 'one for each agent, by its unique index',
  agents: 'quota: 200 for each builder, deleted ones by the bytes that an account has written: market/text-quota',
  api_key_uses: 'one for each key',
  api_keys: 'ten for each account: market/accounts',
  attempts: 'kept',
  budget_authorizations: 'one for each owner and agent, by its unique index',
  budget_categories: 'of budget authorizations, as many as there are categories',
  categories: 'made by administrators alone',
  deliverables: 'quota: 20 for each task, the files of an account, and the bytes that it has written',
  deliveries: 'kept; while they wait, quota: 1,000 for each task and agent',
  disputes: 'one for each task',
  entries: 'content: the ledger is append only, a few for each step of a task and each payment',
  file_locations: 'one for each living instance',
  file_usage: 'one for each account',
  guesses: 'kept',
  idempotency_keys: 'kept; quota: 5,000 for each account: web/idempotency',
  idempotency_usage: 'one for each account',
  jobs: 'one for each kind of work',
  known_addresses: 'a few for each account',
  mails: 'kept; else until each is sent or given up',
  messages: 'quota: bytes that an account has written',
  ...(isNarrow && { migrating: 'one row, for which migrations wait' }),
  migrations: 'one for each step of the program',
  notifications: 'kept',
  password_resets: 'kept',
  purges: 'one for each account',
  rate_windows: 'kept',
  recovery_codes: 'ten for each account',
  reviews: 'one for each task',
  samples: 'ten for each agent: limits.agent.samples',
  second_factors: 'one for each account',
  security_notices: 'one for each mail, and gone with it',
  seen_signatures: 'kept',
  task_steps: 'one for each step of a task, as many as revisions and deliverables allow',
  senders: 'one for each instance that runs; the others remove one that counts no more',
  sessions: 'kept',
  settings: 'a handful of names',
  settlements: 'one for each task',
  tallies: 'sixteen for each name',
  tasks: 'quota: bytes that an account has written',
  text_usage: 'one for each account',
  transfers: 'content: the ledger is append only, a few for each step of a task and each payment',
  uploads: 'until its deliverable holds it, or an hour: web/uploads',
  users: 'content: an address registers so many in an hour',
  work_sums: 'sixteen for each agent and each account, and one for each day of a budget',
}

const tableNames = {
  embedded: `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  postgres: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name`,
}

const run = (marketplace: TestMarketplace, sql: string, ...values: Value[]) =>
  marketplace.market.db.write(tx => tx.run(sql, values))
const countOf = async (marketplace: TestMarketplace, from: string, ...values: Value[]) =>
  (await marketplace.market.db.read(q => q.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${from}`, values)))!
    .count

/** One row of each kind that is kept for a time, as it is written by what runs. */
async function furnish(marketplace: TestMarketplace): Promise<{ agent: ListedAgent; buyer: TestUser; taskId: string }> {
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id: taskId } = await marketplace.draft(buyer, agent)
  await buyer.ask('POST', `/api/tasks/${taskId}/submit`, undefined, 'key', { 'idempotency-key': 'one' })
  await marketplace.webhooksSent()
  await marketplace.callback(agent, taskId, { action: 'accept' })
  const { world, market } = marketplace
  await market.db.write(async tx => {
    const data = { checks: [] } as never
    await notify({ ...market, tx }, agent.builder.id, {
      type: 'webhook_health_failed',
      agentId: agent.id,
      message: 'x',
      data,
    })
    await tx.run('DELETE FROM mails')
    await insertMail(tx, { id: world.id('mail'), kind: 'notification', about: 'sec_x' }, world.now() + DAY)
    const notice = { id: 'sec_x', userId: buyer.id, detail: null, address: null, createdAt: world.now() }
    await insertNotice(tx, { ...notice, kind: 'password_changed' })
    await tx.run('INSERT INTO password_resets (token_hash, user_id, created_at) VALUES ($1, $2, $3)', [
      'x',
      buyer.id,
      world.now(),
    ])
    await tx.run('INSERT INTO rate_windows (category, address, count, ends_at) VALUES ($1, $2, 1, $3)', [
      'x',
      'y',
      world.now(),
    ])
    await tx.run('INSERT INTO guesses (subject, count, next_at, ends_at) VALUES ($1, 1, 1, $2)', ['x', world.now()])
  })
  return { agent, buyer, taskId }
}

const ages: Readonly<Record<(typeof keptKinds)[number], [table: string, age: string]>> = {
  delivery_bodies: [`deliveries WHERE body <> '' AND`, 'ended_at'],
  deliveries: [`deliveries WHERE body = '' AND`, 'ended_at'],
  notifications: ['notifications WHERE', 'created_at'],
  mails: ['mails WHERE', 'next_at'],
  sessions: ['sessions WHERE', 'seen_at'],
  password_resets: ['password_resets WHERE', 'created_at'],
  idempotency_keys: ['idempotency_keys WHERE', 'created_at'],
  seen_signatures: ['seen_signatures WHERE', 'seen_at'],
  rate_windows: ['rate_windows WHERE', 'ends_at'],
  guesses: ['guesses WHERE', 'ends_at'],
}

test('every table of the schema has a bound, and what is kept for a time is swept', async () => {
  const marketplace = await openTestMarketplace()
  const names = (await marketplace.market.db.read(q => q.all<{ name: string }>(tableNames[engine]))).map(
    ({ name }) => name,
  )
  sameNames(Object.keys(bounds), names)
  const kept = Object.keys(bounds).filter(table => bounds[table]!.startsWith('kept'))
  const swept = new Set(Object.values(ages).map(([table]) => table.split(' ')[0]!))
  sameNames(
    swept,
    kept.filter(table => table !== 'attempts'),
  )
  await marketplace.close()
})

for (const kind of keptKinds)
  test(`${kind}: the newest stays, one that is as old as its time goes`, async () => {
    const marketplace = await openTestMarketplace()
    await furnish(marketplace)
    const [table, age] = ages[kind]
    if (kind === 'deliveries') {
      await run(marketplace, `UPDATE deliveries SET body = ''`)
      await run(marketplace, 'DELETE FROM attempts')
    }
    const since = keptSince(marketplace.market)[kind]
    const name = table.split(' ')[0]!
    await run(marketplace, `UPDATE ${name} SET ${age} = $1`, since + 1)
    const there = await countOf(marketplace, `${table} ${age} IS NOT NULL`)
    assert.ok(there > 0)
    await removeOld(marketplace.market)
    assert.is(await countOf(marketplace, `${table} ${age} IS NOT NULL`), there)
    await run(marketplace, `UPDATE ${name} SET ${age} = $1`, since)
    await removeOld(marketplace.market)
    assert.is(await countOf(marketplace, `${table} ${age} IS NOT NULL`), 0)
    if (kind === 'mails') assert.is(await countOf(marketplace, 'security_notices'), 0)
    await marketplace.close()
  })

test('many rows go in several transactions, and all of them in one go', async () => {
  const marketplace = await openTestMarketplace()
  const { id } = await marketplace.join('someone')
  await marketplace.market.db.write(async tx => {
    for (let n = 0; n < 1_100; n++)
      await tx.run('INSERT INTO password_resets (token_hash, user_id, created_at) VALUES ($1, $2, $3)', [`${n}`, id, n])
  })
  const { db } = marketplace.market
  let largest = 0
  const write = async (work: Parameters<typeof db.write>[0]) => {
    const removed = await db.write(work)
    largest = Math.max(largest, Number(removed))
    return removed
  }
  const counting = {
    ...marketplace.market,
    db: { read: (work: never) => db.read(work), write } as unknown as typeof db,
  }
  await removeOld(counting)
  assert.is(await countOf(marketplace, 'password_resets'), 0)
  assert.ok(largest > 0 && largest <= 250, String(largest))
  await marketplace.close()
})

test('thirty days after its end a webhook is in the log without its body, its attempts and its answer', async () => {
  const marketplace = await openTestMarketplace({ startMs: Date.UTC(2026, 0, 1) })
  await marketplace.stopHeartbeat()
  const { agent } = await furnish(marketplace)
  const log = `/api/my/agents/${agent.id}/deliveries`
  const [delivery] = (await agent.builder.call<{ items: DeliveryRecord[] }>('GET', log, undefined, 'key')).items
  const details = () => agent.builder.call<DeliveryDetails>('GET', `${log}/${delivery!.id}`, undefined, 'key')
  const before = await details()
  assert.is(before.attempts.length, 1)
  await marketplace.pass(defaultKeeping.deliveryDays * DAY - 1)
  assert.equal(await details(), before)
  await marketplace.pass(1)
  const { request, answer, attempts, ...rest } = await details()
  assert.equal([request.body, answer, attempts], [null, null, []])
  assert.equal({ ...rest, attempts: before.attempts.length }, { ...delivery, attempts: delivery!.attempts.length })
  assert.is(await countOf(marketplace, 'attempts'), 0)
  const again = await agent.builder.ask('POST', `${log}/${delivery!.id}/redeliver`, undefined, 'key')
  assert.is(again.status, 400)
  assert.match(again.error!, /kept for 30 days after the end of a delivery and is gone/)
  await marketplace.pass(durations.deliveryRowMs)
  assert.is((await agent.builder.call<{ items: unknown[] }>('GET', log, undefined, 'key')).items.length, 0)
  await marketplace.close()
})

test('a webhook that waits is kept whole, however old it is', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  agent.sink.answer = () => answered(503)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.webhooksSent()
  await run(marketplace, 'UPDATE deliveries SET created_at = 1')
  await removeOld(marketplace.market)
  assert.is(await countOf(marketplace, `deliveries WHERE body <> ''`), 1)
  assert.is(await countOf(marketplace, 'attempts'), 1)
  await marketplace.close()
})

test('an operator may keep things shorter, or longer', async () => {
  const marketplace = await openTestMarketplace({ keeping: { deliveryDays: 1, notificationDays: 400 } })
  await marketplace.stopHeartbeat()
  const { agent } = await furnish(marketplace)
  await marketplace.pass(DAY)
  assert.is(await countOf(marketplace, `deliveries WHERE body <> ''`), 0)
  await marketplace.pass(390 * DAY)
  const { items } = await agent.builder.call<{ items: NotificationRecord[] }>(
    'GET',
    '/api/notifications',
    undefined,
    'key',
  )
  assert.is(items.length, 1)
  await marketplace.close()
})

test('of an answer 2,048 bytes are kept, as bytes, and no half character', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const answers = ['\uFFFD'.repeat(20_000), `x${'é'.repeat(5_000)}`, 'short']
  const kept: string[] = []
  for (const body of answers) {
    agent.sink.answer = () => answered(200, body)
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    await marketplace.webhooksSent()
    const sql = 'SELECT a.answer FROM attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE d.task_id = $1'
    kept.push((await marketplace.market.db.read(q => q.get<{ answer: string }>(sql, [id])))!.answer)
  }
  for (const answer of kept) assert.ok(Buffer.byteLength(answer) <= keptResponseBytes)
  assert.equal(kept, ['\uFFFD'.repeat(682), `x${'é'.repeat(1_023)}`, 'short'])
  await marketplace.close()
})

test('metrics tell how far the oldest of each is past its time, what files take, and what caches hold', async () => {
  const marketplace = await openTestMarketplace()
  await furnish(marketplace)
  const text = await (await fetch(`${marketplace.url}/metrics`)).text()
  const value = (series: string) =>
    Number(
      text
        .split('\n')
        .find(line => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  const overdue = (kind: string) => value(`marketplace_retention_overdue_seconds{kept="${kind}"}`)
  assert.is(overdue('delivery_bodies'), (-30 * DAY) / 1000)
  assert.is(overdue('notifications'), (-90 * DAY) / 1000)
  assert.is(overdue('rate_windows'), 0)
  assert.is(value('marketplace_account_file_bytes'), 0)
  assert.is(value('marketplace_account_file_bytes_quota'), 1024 ** 3)
  for (const cache of ['records', 'pages', 'selections'])
    assert.ok(value(`marketplace_cache_bytes{cache="${cache}"}`) >= 0)
  await marketplace.close()
})

test.run()
