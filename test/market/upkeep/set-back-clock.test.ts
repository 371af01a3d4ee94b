// engines: embedded, postgres and narrow at length; process: shared
/** A clock that was ahead and is right again: nothing waits for the time that it told. Source: A-44. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { planHeartbeat } from '../../../src/market/checks/heartbeat.ts'
import { countInCommon } from '../../../src/market/requests/rate-windows.ts'
import { runDue } from '../../../src/market/upkeep/due.ts'
import { watchClock } from '../../../src/market/upkeep/set-back-clock.ts'
import { openBareMarket } from '../../support/bare-market.ts'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'

const DAY = 86_400_000

/** The machine's clock goes back by a day: what a look at it every second sees. */
async function setBack(marketplace: TestMarketplace): Promise<void> {
  const { market, world } = marketplace
  const machine = { ...world, realNow: () => world.realNow() + DAY }
  const ahead = { ...market, world: machine }
  await watchClock(ahead)
  machine.realNow = world.realNow
  await runDue(ahead)
}

const sql = (marketplace: TestMarketplace, text: string, ...values: (string | number)[]) =>
  marketplace.market.db.write(tx => tx.run(text, values))

test('a webhook written, or tried, by a clock a day ahead is sent now', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const { id } = await marketplace.draft(buyer, agent)
  const { sent } = marketplace.world.egress as unknown as { sent: unknown[] }
  let isUp = false
  agent.sink.answer = () => ({ ok: true, status: isUp ? 200 : 503, headers: {}, body: '', durationMs: 0 })
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.webhooksSent()
  const tried = sent.length
  const ahead = marketplace.world.now() + DAY
  await sql(
    marketplace,
    'UPDATE deliveries SET created_at = $1, next_at = $1, leased_until = $2 WHERE task_id = $3',
    ahead,
    marketplace.world.realNow() + DAY,
    id,
  )
  await marketplace.runDue()
  await marketplace.webhooksSent()
  assert.is(sent.length, tried, 'as it lies ahead, nobody sends it')
  isUp = true
  await setBack(marketplace)
  await marketplace.runDue()
  await marketplace.webhooksSent()
  assert.is(sent.length, tried + 1)
  await marketplace.close()
})

test('work in hand by a clock a day ahead is free again: tests, keyed requests, runs of the heartbeat', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  const [now, realNow] = [marketplace.world.now() + DAY, marketplace.world.realNow() + DAY]
  await sql(marketplace, 'UPDATE agent_tests SET ended = 0, started_at = $1 WHERE agent_id = $2', realNow, agent.id)
  const body = {
    agentId: agent.id,
    title: 'A task of a test',
    description: 'Something that is asked for',
    agreedPrice: 500,
  }
  const create = () => buyer.ask('POST', '/api/tasks', body, 'key', { 'idempotency-key': 'one' })
  assert.is((await create()).status, 201)
  await sql(marketplace, 'UPDATE idempotency_keys SET status = NULL, created_at = $1, running_until = $2', now, realNow)
  await sql(marketplace, 'UPDATE jobs SET next_at = $1, leased_until = $2', now, realNow)
  const test = () => agent.builder.ask('POST', `/api/my/agents/${agent.id}/test-connection`, undefined, 'key')
  assert.equal([(await test()).status, (await create()).status], [409, 409])
  await setBack(marketplace)
  assert.equal([(await test()).status, (await create()).status], [200, 201])
  const jobs = await marketplace.market.db.read(q =>
    q.all<{ at: number; till: number }>('SELECT next_at AS at, leased_until AS till FROM jobs'),
  )
  for (const { at, till } of jobs) assert.ok(at <= marketplace.world.now() && till <= marketplace.world.realNow())
  await marketplace.close()
})

test('a test that passed or failed a day ahead does not decide for a day what is public', async () => {
  const marketplace = await openTestMarketplace()
  await marketplace.stopHeartbeat()
  const builder = await marketplace.join('builder')
  const [passed, failed] = [
    await marketplace.list(builder, { name: 'Passed' }),
    await marketplace.list(builder, { name: 'Failed' }),
  ]
  const ahead = marketplace.world.now() + DAY
  await sql(marketplace, 'UPDATE agents SET last_pass_at = $1, tested_at = $1 WHERE id = $2', ahead, passed.id)
  await sql(
    marketplace,
    'UPDATE agents SET last_pass_at = $1, failed_at = $2, tested_at = $1 WHERE id = $3',
    ahead,
    ahead + 5,
    failed.id,
  )
  await setBack(marketplace)
  const names = async () => {
    const { items } = await marketplace.visitor.call<{ items: { name: string }[] }>('GET', '/api/agents?sort=newest')
    return items.map(({ name }) => name)
  }
  assert.equal(await names(), ['Passed'], 'what failed later is hidden still')
  marketplace.world.advance(marketplace.world.now() + 1000)
  await marketplace.freshen(failed)
  assert.equal(await names(), ['Failed', 'Passed'])
  marketplace.world.advance(marketplace.world.now() + DAY + 1)
  assert.equal(await names(), [])
  await marketplace.close()
})

test('a rate window that was begun a day ahead is over', async () => {
  const marketplace = await openTestMarketplace()
  const now = marketplace.world.now()
  const count = async (at: number) => (await countInCommon(marketplace.market, 'general', '198.51.100.7', at)).count
  assert.equal([await count(now + DAY), await count(now + DAY)], [1, 2])
  assert.equal([await count(now), await count(now)], [1, 2])
  assert.is(await count(now - 60_000), 3, 'an instance a minute behind counts in the same window')
  await marketplace.close()
})

test('what a clock that is right has written stays as it is', async () => {
  const marketplace = await openTestMarketplace()
  const buyer = await marketplace.join('buyer', 5_000)
  const agent = await marketplace.list(await marketplace.join('builder'))
  agent.sink.answer = () => ({ ok: true, status: 503, headers: {}, body: '', durationMs: 0 })
  const { id } = await marketplace.draft(buyer, agent)
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.webhooksSent()
  const before = await marketplace.contents()
  const rows = () =>
    marketplace.market.db.read(q => q.all('SELECT id, next_at, leased_until FROM deliveries ORDER BY id'))
  const deliveries = await rows()
  await setBack(marketplace)
  assert.equal(await marketplace.contents(), before)
  assert.equal(await rows(), deliveries)
  await marketplace.close()
})

test('a clock that goes back by less than clocks may differ mends nothing; by more than that it does, and says how much', async () => {
  const { market, world, logged, close } = await openBareMarket()
  const LAST = 300_000
  const ahead = 'UPDATE jobs SET next_at = $1'
  await planHeartbeat(market)
  const machine = { ...world, realNow: () => world.realNow() }
  const look = (at: number) => {
    machine.realNow = () => world.realNow() + at
    return watchClock({ ...market, world: machine })
  }
  await look(0)
  await market.db.write(tx => tx.run(ahead, [world.now() + DAY]))
  await look(DAY)
  await look(DAY - LAST)
  await look(DAY - LAST)
  assert.equal(logged, [], 'the clock was set back by five minutes')
  await look(DAY - 2 * LAST - 1)
  assert.equal(logged, [
    { type: 'warning', message: 'The clock was set back: 1 rows that waited for times far ahead are due now' },
  ])
  await look(0)
  assert.is(logged.length, 1, 'nothing waits any more')
  await close()
})

test('the first look, at the start, mends what another process has left', async () => {
  const { market, world, logged, close } = await openBareMarket()
  await planHeartbeat(market)
  await market.db.write(tx => tx.run('UPDATE jobs SET next_at = $1', [world.now() + DAY]))
  await watchClock(market)
  assert.is(logged.length, 1)
  await close()
})

test.run()
